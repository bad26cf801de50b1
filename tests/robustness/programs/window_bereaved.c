/* window_bereaved ACCESS: rank 1 is killed in the middle of what ranks 0 and 2 do with it on a window. The others, which do not let
 * the launcher's SIGTERM end them, must get the error that it was aborted, soon; then they print "ok window_bereaved ACCESS RANK".
 *   put get accumulate fetch   accesses to its part, which is its own memory
 *   start wait                 epochs that it would have to open or close
 *   holder                     it dies while it updates memory that all map: the others' updates go on, and none is lost */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { COUNT = 20000, HELD = 8192 };
static const double LIMIT = 1.5;

static int rank, values[COUNT], back[COUNT], part[COUNT];
static const char *access_name;
static MPI_Win win;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wrong(const char *what, int code, double spent)
{
    printf("rank %d: %s: %s: code %d after %.1f s\n", rank, access_name, what, code, spent);
    fflush(stdout);
    raise(SIGKILL);
}

static int is(const char *name) { return strcmp(access_name, name) == 0; }

static int once(void)
{
    if (is("put"))
        return MPI_Put(values, COUNT, MPI_INT, 1, 0, COUNT, MPI_INT, win);
    if (is("get"))
        return MPI_Get(back, COUNT, MPI_INT, 1, 0, COUNT, MPI_INT, win);
    if (is("accumulate"))
        return MPI_Accumulate(values, COUNT, MPI_INT, 1, 0, COUNT, MPI_INT, MPI_SUM, win);
    return MPI_Fetch_and_op(values, back, MPI_INT, 1, 0, MPI_SUM, win);
}

/* The error that the other was aborted, from `code` or from a later access. */
static void expect_error(int code, int repeats)
{
    double begin = seconds(), spent = 0;
    int class = MPI_SUCCESS;
    while (code == MPI_SUCCESS && repeats && (spent = seconds() - begin) < LIMIT)
        code = once();
    spent = seconds() - begin;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_PROC_ABORTED || spent > LIMIT)
        wrong("not the error", class, spent);
}

static void accesses(void)
{
    MPI_Win_create(part, sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3 && rank != 1; i++)
        if (once() != MPI_SUCCESS)
            wrong("before the death", 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    expect_error(MPI_SUCCESS, 1);
}

static void epochs(void)
{
    MPI_Group world, one;
    int first = 1;
    MPI_Win_create(part, sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &first, &one);
    if (rank != 1 && is("wait") && MPI_Win_post(one, 0, win) != MPI_SUCCESS)
        wrong("post", 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    expect_error(is("wait") ? MPI_Win_wait(win) : MPI_Win_start(one, 0, win), 0);
}

static void die(int number)
{
    (void)number;
    raise(SIGKILL);
}

/* Of the dead one's updates each element has some; of the others' it has all. */
static void holder(void)
{
    int *shared, ones[HELD], found[HELD];
    MPI_Win_allocate(rank ? 0 : sizeof ones, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < HELD; i++)
        ones[i] = rank == 1 ? 1 << 16 : 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        struct itimerval soon = {.it_value = {0, 20000}};
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;)
            MPI_Accumulate(ones, HELD, MPI_INT, 0, 0, HELD, MPI_INT, MPI_SUM, win);
    }
    int times = 0;
    /* Fewer than its updates would need to be counted beyond 16 bits. */
    for (double begin = seconds(); seconds() - begin < 0.3 && times < 20000; times++)
        MPI_Accumulate(ones, HELD, MPI_INT, 0, 0, HELD, MPI_INT, MPI_SUM, win);
    for (int i = 0; i < HELD; i++)
        MPI_Fetch_and_op(ones, found, MPI_INT, 0, i, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, found, HELD, MPI_INT, 0, 0, HELD, MPI_INT, MPI_NO_OP, win);
    for (int i = 0; i < HELD; i++)
        if ((found[i] & 0xffff) < times + 1)
            wrong("an update is lost", found[i] & 0xffff, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGTERM, SIG_IGN);
    access_name = argv[1];
    if (is("holder"))
        holder();
    else if (is("start") || is("wait"))
        epochs();
    else
        accesses();
    printf("ok window_bereaved %s %d\n", access_name, rank);
    fflush(stdout);
    raise(SIGKILL);
    return 0;
}
