/* storm POLICY: two ranks with a core each, on a machine whose cores wake slowly. Rank 0 comes late again and again; what follows is to be as quick
 * as before, so nobody sleeps in it. Counted are sleeps, not time. With the policy "turns" a thread stays awake for fewer turns than a wake takes: then
 * both sleep in every other operation for good, by which this program shows that it would find such a storm. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "counters.h"

enum {
    WAKE_US = 500,
    LATE_MS = 25,      /* longer than any thread stays awake */
    LATE_TIMES = 2,
    SETTLING = 10,     /* operations behind a late one in which some may sleep */
    OPERATIONS = 100,
    CALM_PERCENT = 5,  /* the kernel may take a core away */
    STORM_PERCENT = 20,
};

static void spin_us(double us)
{
    for (double begin = MPI_Wtime(); (MPI_Wtime() - begin) * 1e6 < us;)
        continue;
}

/* The library's system calls come here. A sleep that was ended by a wake takes so much longer. */
long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (!next)
        next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    long operation = a[1] & FUTEX_CMD_MASK;
    if (number == SYS_futex && result == 0 && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)) {
        spin_us(WAKE_US);
        errno = 0;
    }
    return result;
}

static void set(const char *name, unsigned long long value)
{
    int index, ignored;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS || MPI_T_cvar_handle_alloc(index, NULL, &handle, &ignored) != MPI_SUCCESS ||
        MPI_T_cvar_write(handle, &value) != MPI_SUCCESS) {
        fprintf(stderr, "control variable %s is not set\n", name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_T_cvar_handle_free(&handle);
}

static void barrier(int rank)
{
    (void)rank;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int rank)
{
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void sendrecv(int rank)
{
    int other;
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void repeat(void (*operation)(int), int rank, int times)
{
    while (times--)
        operation(rank);
}

/* Sleeps of both ranks, for each hundred operations behind those in which one was late. */
static unsigned long long sleeps_percent(void (*operation)(int), int rank)
{
    MPI_T_pvar_handle handle = count("weft_sleeps", MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long sleeps = 0;
    repeat(operation, rank, OPERATIONS);
    for (int i = 0; i < LATE_TIMES; i++) {
        if (rank == 0)
            spin_us(1e3 * LATE_MS);
        repeat(operation, rank, SETTLING);
        unsigned long long before = counted(handle);
        repeat(operation, rank, OPERATIONS);
        sleeps += counted(handle) - before;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sleeps, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return 100 * sleeps / (LATE_TIMES * OPERATIONS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int);
    } operations[] = {{"barrier", barrier}, {"allreduce", allreduce}, {"sendrecv", sendrecv}};
    /* Ahead of all that shares the machine: what is not the library's doing puts nobody to sleep. */
    struct sched_param priority = {.sched_priority = 1};
    int provided, rank, wrong = 0, by_turns = argc > 1 && strcmp(argv[1], "turns") == 0;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (sched_setscheduler(0, SCHED_FIFO, &priority))
        printf("no real-time priority\n");
    if (by_turns) {
        set("weft_spin_turns", 500);
        set("weft_yield_turns", 10);
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        unsigned long long sleeps = sleeps_percent(operations[i].run, rank);
        if (rank == 0)
            printf("%s: %llu sleeps in 100\n", operations[i].name, sleeps);
        wrong |= by_turns ? sleeps < STORM_PERCENT : sleeps > CALM_PERCENT;
    }
    priority.sched_priority = 0;
    sched_setscheduler(0, SCHED_OTHER, &priority);
    if (rank == 0 && !wrong)
        printf("ok storm\n");
    MPI_Finalize();
    MPI_T_finalize();
    return wrong;
}
