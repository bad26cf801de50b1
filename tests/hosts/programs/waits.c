/* waits WHAT: each rank but the last waits in WHAT for the last one, which never comes. One that is told so says "told RANK CLASS" and ends.
 * WHAT: recv any ssend large probe barrier allreduce; with windows flush get put accumulate lock holder origin. With holder the last rank has a
 * lock of rank 0's part; with origin it is in the middle of a long put there, and the others, who wait for nothing of it, go on. */
#include "check.h"
#include <unistd.h>

enum { LARGE = 64 << 20, STAYS_MS = 20000 };

static const char *const OF_WINDOWS[] = {"flush", "get", "put", "accumulate", "lock", "holder", "origin"};

static int is_of_windows(const char *what)
{
    for (size_t i = 0; i < sizeof OF_WINDOWS / sizeof *OF_WINDOWS; i++)
        if (strcmp(what, OF_WINDOWS[i]) == 0)
            return 1;
    return 0;
}

/* One access after the other, each followed by a flush, until one fails; or some, to whoever lives. */
static int access_again_and_again(const char *what, int target, MPI_Win window)
{
    int is_long = strcmp(what, "flush") != 0 && strcmp(what, "origin") != 0, count = is_long ? LARGE / (int)sizeof(long) : 1;
    long *values = memory((size_t)count * sizeof *values);
    int code = MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    memset(values, 0, (size_t)count * sizeof *values);
    for (int i = 0; code == MPI_SUCCESS && i < (strcmp(what, "origin") == 0 ? 2000 : 100000); i++) {
        if (strcmp(what, "put") == 0)
            code = MPI_Put(values, count, MPI_LONG, target, 0, count, MPI_LONG, window);
        else if (strcmp(what, "accumulate") == 0)
            code = MPI_Accumulate(values, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, window);
        else
            code = MPI_Get(values, count, MPI_LONG, target, 0, count, MPI_LONG, window);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(target, window);
        usleep(1000);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Win_unlock(target, window);
    return code;
}

static int wait_in_window(const char *what, int last, MPI_Win window)
{
    if (strcmp(what, "lock") == 0)
        return MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
    if (strcmp(what, "holder") == 0)
        return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    return access_again_and_again(what, strcmp(what, "origin") == 0 ? 0 : last, window);
}

/* What the last rank does until it is killed. */
static void last_one(const char *what, MPI_Win window)
{
    if (strcmp(what, "origin") == 0)
        access_again_and_again("put", 0, window);
    for (;;)
        pause();
}

static int wait_in(const char *what, int last, MPI_Win window)
{
    long value = 1, all;
    void *large;
    MPI_Status status;
    if (strcmp(what, "recv") == 0)
        return MPI_Recv(&value, 1, MPI_LONG, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "any") == 0)
        return MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "ssend") == 0)
        return MPI_Ssend(&value, 1, MPI_LONG, last, 1, MPI_COMM_WORLD);
    if (strcmp(what, "large") == 0) {
        large = memory(LARGE);
        return MPI_Send(large, LARGE, MPI_BYTE, last, 1, MPI_COMM_WORLD);
    }
    if (strcmp(what, "probe") == 0)
        return MPI_Probe(last, 1, MPI_COMM_WORLD, &status);
    if (strcmp(what, "barrier") == 0)
        return MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "allreduce") == 0)
        return MPI_Allreduce(&value, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return wait_in_window(what, last, window);
}

int main(int count, char **words)
{
    begin(&count, &words);
    REQUIRE(count == 2);
    int last = size - 1, class;
    char text[MPI_MAX_ERROR_STRING];
    long *base;
    MPI_Win window = MPI_WIN_NULL;
    if (is_of_windows(words[1]))
        MPI_Win_allocate(LARGE, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    if (rank == last && (strcmp(words[1], "lock") == 0 || strcmp(words[1], "holder") == 0))
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, strcmp(words[1], "lock") == 0 ? last : 0, 0, window);
    /* Whoever waits has talked to all. */
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (window != MPI_WIN_NULL)
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    printf("running %d %d\n", rank, (int)getpid());
    fflush(stdout);
    if (rank == last)
        last_one(words[1], window);
    int code = wait_in(words[1], last, window), length, wanted = strcmp(words[1], "origin") == 0 ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    printf("told %d class %d: %s\n", rank, class, text);
    fflush(stdout);
    /* Who ends is lost to the others, who may still access something of its. */
    if (wanted == MPI_SUCCESS)
        last_one("", window);
    /* It may be a neighbour's word by which others learn of the death, and that it gives when it calls MPI. */
    for (int i = 0, flag; i < STAYS_MS; i++) {
        MPI_Iprobe(rank, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    /* The library can do nothing more for a program whose job has lost a rank. */
    _exit(class == wanted ? 0 : 4);
}
