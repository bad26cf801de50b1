/* Phases that are counted: each is a function of its own, `counted_...`, for callgrind to collect; the first rounds go through
 * twins, `warm_...`, that it does not collect. Between phases the ranks meet in a barrier over a shared file that is not MPI.
 *
 * Allocations and pthread locks are counted here, by defining these functions, and phases in which a system call was made by
 * the kernel's system call user dispatch (not under valgrind, whose own calls it would catch).
 *
 * A program defines its phases by PHASE, lists them in `phases`, and calls `begin`, then `meet` and `run` in WARM_ROUNDS and the
 * asked rounds, then `report`; `count_phases` does all of it where the ranks meet once a round. */
#ifndef COUNTED_H
#define COUNTED_H
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

static atomic_int *arrivals;
static int rank, turn, rounds;

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

struct phase {
    const char *name;
    void (*warm)(void), (*counted)(void);
    long allocations, locks, system_calls;
};
#define LISTED(name) {#name, warm_##name, counted_##name, 0, 0, 0}

static int warm = 1, traps;

static void run(struct phase *phase)
{
    if (warm) {
        phase->warm();
        return;
    }
    long allocated = allocations, locked = locks, called = trapped;
    trap = traps ? SYSCALL_DISPATCH_FILTER_BLOCK : SYSCALL_DISPATCH_FILTER_ALLOW;
    phase->counted();
    trap = SYSCALL_DISPATCH_FILTER_ALLOW;
    phase->allocations += allocations - allocated;
    phase->locks += locks - locked;
    phase->system_calls += trapped - called;
}

/* Everyone has arrived at this turn of the barrier. */
static void meet(void)
{
    turn++;
    atomic_fetch_add(arrivals, 1);
    while (atomic_load(arrivals) < turn * RANKS)
        usleep(50);
}

static pthread_mutex_t until = PTHREAD_MUTEX_INITIALIZER;
static pthread_t idle;

static void *idle_thread(void *state) { return pthread_mutex_lock(state), NULL; }

/* Arguments: SHARED_FILE ROUNDS alone|threads [trap]. With "threads" a second thread exists, so that the library may not skip
 * its locks; "trap" counts system calls. */
static void begin(int argc, char **argv)
{
    int provided, file, threads = argc > 3 && strcmp(argv[3], "threads") == 0;
    if (threads)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = argc < 4 ? -1 : open(argv[1], O_RDWR);
    if (file < 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    arrivals = mmap(NULL, sizeof *arrivals, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    rounds = atoi(argv[2]);
    if (threads) {
        pthread_mutex_lock(&until);
        pthread_create(&idle, NULL, idle_thread, &until);
    }
    traps = argc > 4 && strcmp(argv[4], "trap") == 0 && trap_system_calls();
}

/* Prints the counts and which file the library is, for its instructions to be looked up. */
static void report(const struct phase *phases, int count)
{
    Dl_info where;
    if (!dladdr((void *)MPI_Isend, &where))
        MPI_Abort(MPI_COMM_WORLD, 4);
    for (const struct phase *p = phases; p < phases + count; p++)
        printf("rank=%d phase=%s allocations=%ld locks=%ld system_calls=%ld trapped=%d file=%s\n", rank, p->name,
               p->allocations, p->locks, p->system_calls, traps, where.dli_fname);
    fflush(stdout);
    if (idle) {
        pthread_mutex_unlock(&until);
        pthread_join(idle, NULL);
    }
}

static __attribute__((unused)) int count_phases(int argc, char **argv, struct phase *phases, int count)
{
    begin(argc, argv);
    for (int i = 0; i < WARM_ROUNDS + rounds; i++) {
        warm = i < WARM_ROUNDS;
        meet();
        for (int k = 0; k < count; k++)
            run(&phases[k]);
    }
    report(phases, count);
    return MPI_Finalize();
}
#endif
