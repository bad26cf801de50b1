/* messages PHASES SHARED_FILE ROUNDS alone|threads [trap]: windows of 16 eager messages of 8 bytes between two ranks, in phases that
 * do not poll: between phases the ranks meet in a barrier over SHARED_FILE that is not MPI, so that whatever a phase waits
 * for has already come. Each phase is a function of its own, `counted_...`, for callgrind to collect; the first rounds go
 * through twins, `warm_...`, that it does not collect.
 *
 * PHASES is "prepost" or "unexpected": whether receives are posted before the messages are sent. With "threads" a second
 * thread exists, so that the library may not skip its locks.
 *
 * Counts allocations and pthread locks itself, by defining these functions, and windows in which a system call was made,
 * by the kernel's system call user dispatch when "trap" is given (not under valgrind, whose own calls it would catch), and prints them for each phase. Prints which file
 * the library is, for its instructions to be looked up. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { WINDOW = 16, WARM_ROUNDS = 40, RANKS = 2 };

static long values[WINDOW];
static MPI_Request requests[WINDOW];
static atomic_int *arrivals;
static int rank, turn;

/* ---- what is counted here ---- */
static _Thread_local long allocations, locks;
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

/* While `trap` says so, the next system call raises SIGSYS instead. The handler makes the call and lets the others pass:
 * one in a window is enough to know. */
static volatile char trap = SYSCALL_DISPATCH_FILTER_ALLOW;
static volatile long trapped;

static void on_system_call(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number;
    trap = SYSCALL_DISPATCH_FILTER_ALLOW;
    trapped++;
    long result = syscall(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
    r[REG_RAX] = result == -1 ? -errno : result;
}

static int trap_system_calls(void)
{
    struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO};
    return sigaction(SIGSYS, &action, NULL) == 0 &&
           prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &trap) == 0;
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

enum { ISEND, ISEND_WAIT, IRECV, IRECV_WAIT, LOCAL, PHASES };
static struct {
    const char *name;
    void (*warm)(void), (*counted)(void);
    long allocations, locks, system_calls;
} phases[PHASES] = {
    [ISEND] = {"isend", warm_isend, counted_isend, 0, 0, 0},
    [ISEND_WAIT] = {"isend_wait", warm_isend_wait, counted_isend_wait, 0, 0, 0},
    [IRECV] = {"irecv", warm_irecv, counted_irecv, 0, 0, 0},
    [IRECV_WAIT] = {"irecv_wait", warm_irecv_wait, counted_irecv_wait, 0, 0, 0},
    [LOCAL] = {"local", warm_local, counted_local, 0, 0, 0},
};
static int warm = 1, traps;

static void run(int phase)
{
    if (warm) {
        phases[phase].warm();
        return;
    }
    long allocated = allocations, locked = locks, called = trapped;
    trap = traps ? SYSCALL_DISPATCH_FILTER_BLOCK : SYSCALL_DISPATCH_FILTER_ALLOW;
    phases[phase].counted();
    trap = SYSCALL_DISPATCH_FILTER_ALLOW;
    phases[phase].allocations += allocations - allocated;
    phases[phase].locks += locks - locked;
    phases[phase].system_calls += trapped - called;
}

/* Everyone has arrived at this turn of the barrier. */
static void meet(void)
{
    turn++;
    atomic_fetch_add(arrivals, 1);
    while (atomic_load(arrivals) < turn * RANKS)
        usleep(50);
}

static void one_round(int prepost)
{
    int flag;
    if (rank == 1 && prepost)
        run(IRECV);
    meet();
    if (rank == 0)
        run(ISEND);
    meet();
    if (rank == 1 && !prepost) {
        MPI_Iprobe(0, WINDOW + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* takes the messages in as unexpected */
        run(IRECV);
    }
    if (rank == 1)
        run(IRECV_WAIT);
    meet();
    if (rank == 0)
        run(ISEND_WAIT);
    run(LOCAL);
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
    int threads = argc > 4 && strcmp(argv[4], "threads") == 0;
    if (threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = argc < 5 ? -1 : open(argv[2], O_RDWR);
    if (file < 0)
        return MPI_Abort(MPI_COMM_WORLD, 2);
    arrivals = mmap(NULL, sizeof *arrivals, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int prepost = strcmp(argv[1], "prepost") == 0, rounds = atoi(argv[3]);
    pthread_t thread;
    if (threads) {
        pthread_mutex_lock(&until);
        pthread_create(&thread, NULL, idle_thread, &until);
    }
    for (int i = 0; i < WINDOW; i++)
        values[i] = rank == 0 ? i : 0;

    traps = argc > 5 && trap_system_calls();
    for (int i = 0; i < WARM_ROUNDS + rounds; i++) {
        warm = i < WARM_ROUNDS;
        one_round(prepost);
    }

    Dl_info where;
    if (!dladdr((void *)MPI_Isend, &where))
        return MPI_Abort(MPI_COMM_WORLD, 4);
    for (int p = 0; p < PHASES; p++)
        printf("rank=%d phase=%s allocations=%ld locks=%ld system_calls=%ld trapped=%d file=%s\n", rank,
               phases[p].name, phases[p].allocations, phases[p].locks, phases[p].system_calls, traps, where.dli_fname);
    fflush(stdout);
    if (threads) {
        pthread_mutex_unlock(&until);
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}
