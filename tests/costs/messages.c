/* messages PHASES SHARED_FILE ROUNDS [threads]: windows of 16 eager messages of 8 bytes between two ranks, in phases that
 * do not poll: between phases the ranks meet in a barrier over SHARED_FILE that is not MPI, so that whatever a phase waits
 * for has already come. Each phase is a function of its own, `counted_...`, for callgrind to collect; the first rounds go
 * through twins, `warm_...`, that it does not collect.
 *
 * PHASES is "prepost" or "unexpected": whether receives are posted before the messages are sent. With "threads" a second
 * thread exists, so that the library may not skip its locks.
 *
 * Counts allocations and pthread locks itself, by defining these functions, and prints them per phase. Prints where the
 * library is mapped, for addresses of instructions to be found in its file. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 16, WARM_ROUNDS = 40, RANKS = 2 };

static long values[WINDOW];
static MPI_Request requests[WINDOW];
static atomic_int *arrivals;
static int rank, turn;

/* ---- what is counted here ---- */
static _Thread_local long allocations, locks;
static long phase_allocations, phase_locks;
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void __libc_free(void *);
static int (*real_lock)(pthread_mutex_t *), (*real_trylock)(pthread_mutex_t *);

void *malloc(size_t bytes) { return allocations++, __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return allocations++, __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { return allocations++, __libc_realloc(old, bytes); }
void free(void *old) { allocations += old != NULL; __libc_free(old); }
int posix_memalign(void **to, size_t align, size_t bytes) { return allocations++, *to = __libc_memalign(align, bytes), !*to; }

/* Locks taken before main are not counted, but must be taken. */
static int (*next(const char *name))(pthread_mutex_t *)
{
    union { void *data; int (*function)(pthread_mutex_t *); } found = {dlsym(RTLD_NEXT, name)};
    return found.function;
}
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!real_lock)
        real_lock = next("pthread_mutex_lock");
    return locks++, real_lock(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!real_trylock)
        real_trylock = next("pthread_mutex_trylock");
    return locks++, real_trylock(mutex);
}

/* ---- the phases ---- */
/* noipa: the compiler must not fold the twins, which are the same but for their names. */
#define PHASE(name, ...)                                                        \
    static __attribute__((noipa)) void warm_##name(void) { __VA_ARGS__; }       \
    static __attribute__((noipa)) void counted_##name(void) { __VA_ARGS__; }

PHASE(isend, for (int i = 0; i < WINDOW; i++) MPI_Isend(&values[i], 1, MPI_LONG, 1, i, MPI_COMM_WORLD, &requests[i]))
PHASE(isend_wait, MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE))
PHASE(irecv, for (int i = 0; i < WINDOW; i++) MPI_Irecv(&values[i], 1, MPI_LONG, 0, i, MPI_COMM_WORLD, &requests[i]))
PHASE(irecv_wait, MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE))
PHASE(local, int size; for (int i = 0; i < WINDOW; i++) {
    MPI_Comm_rank(MPI_COMM_WORLD, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_size(MPI_LONG, &size);
})

/* Everyone has arrived at this turn of the barrier. */
static void meet(void)
{
    turn++;
    atomic_fetch_add(arrivals, 1);
    while (atomic_load(arrivals) < turn * RANKS)
        usleep(50);
}

static void run(void (*phase)(void))
{
    long allocated = allocations, locked = locks;
    phase();
    phase_allocations += allocations - allocated;
    phase_locks += locks - locked;
}

static void one_round(int prepost, int warm)
{
    void (*isend)(void) = warm ? warm_isend : counted_isend, (*isend_wait)(void) = warm ? warm_isend_wait : counted_isend_wait;
    void (*irecv)(void) = warm ? warm_irecv : counted_irecv, (*irecv_wait)(void) = warm ? warm_irecv_wait : counted_irecv_wait;
    int flag;

    if (rank == 1 && prepost)
        run(irecv);
    meet();
    if (rank == 0)
        run(isend);
    meet();
    if (rank == 1 && !prepost) {
        MPI_Iprobe(0, WINDOW + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* takes the messages in as unexpected */
        run(irecv);
    }
    if (rank == 1)
        run(irecv_wait);
    meet();
    if (rank == 0)
        run(isend_wait);
    run(warm ? warm_local : counted_local);
    for (int i = 0; rank == 1 && i < WINDOW; i++)
        if (values[i] != i)
            MPI_Abort(MPI_COMM_WORLD, 3);
    memset(values, 0, rank == 1 ? sizeof values : 0);
}

static void *idle_thread(void *until) { return pthread_mutex_lock(until), NULL; }

int main(int argc, char **argv)
{
    static pthread_mutex_t until = PTHREAD_MUTEX_INITIALIZER;
    int provided, file;
    if (argc > 4)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = argc < 4 ? -1 : open(argv[2], O_RDWR);
    if (file < 0)
        return MPI_Abort(MPI_COMM_WORLD, 2);
    arrivals = mmap(NULL, sizeof *arrivals, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int prepost = strcmp(argv[1], "prepost") == 0, rounds = atoi(argv[3]);
    pthread_t thread;
    if (argc > 4) {
        pthread_mutex_lock(&until);
        pthread_create(&thread, NULL, idle_thread, &until);
    }
    for (int i = 0; i < WINDOW; i++)
        values[i] = rank == 0 ? i : 0;

    for (int i = 0; i < WARM_ROUNDS; i++)
        one_round(prepost, 1);
    phase_allocations = phase_locks = 0;
    for (int i = 0; i < rounds; i++)
        one_round(prepost, 0);

    Dl_info where;
    if (dladdr((void *)MPI_Isend, &where))
        printf("rank=%d allocations=%ld locks=%ld base=%p file=%s\n", rank, phase_allocations, phase_locks, where.dli_fbase,
               where.dli_fname);
    fflush(stdout);
    if (argc > 4) {
        pthread_mutex_unlock(&until);
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}
