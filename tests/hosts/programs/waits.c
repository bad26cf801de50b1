/* waits WHAT: each rank but the last waits in WHAT for the last one, which never comes. One that is told so says "told RANK CLASS" and ends.
 * WHAT: recv any ssend large probe barrier allreduce flush lock */
#include "check.h"
#include <unistd.h>

enum { LARGE = 64 << 20 };

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
    if (strcmp(what, "flush") == 0) {
        int code = MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
        for (int i = 0; code == MPI_SUCCESS && i < 100000; i++) {
            code = MPI_Get(&value, 1, MPI_LONG, last, 0, 1, MPI_LONG, window);
            if (code == MPI_SUCCESS)
                code = MPI_Win_flush(last, window);
            usleep(1000);
        }
        return code;
    }
    REQUIRE(strcmp(what, "lock") == 0);
    return MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
}

int main(int count, char **words)
{
    begin(&count, &words);
    REQUIRE(count == 2);
    int last = size - 1, class;
    char text[MPI_MAX_ERROR_STRING];
    long *base;
    MPI_Win window = MPI_WIN_NULL;
    if (strcmp(words[1], "flush") == 0 || strcmp(words[1], "lock") == 0)
        MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    if (rank == last && strcmp(words[1], "lock") == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
    /* Whoever waits has talked to all. */
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (window != MPI_WIN_NULL)
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    printf("running %d %d\n", rank, (int)getpid());
    fflush(stdout);
    if (rank == last)
        for (;;)
            pause();
    int code = wait_in(words[1], last, window), length;
    REQUIRE(code != MPI_SUCCESS);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    printf("told %d class %d: %s\n", rank, class, text);
    fflush(stdout);
    /* The library can do nothing more for a program whose job has lost a rank. */
    _exit(class == MPI_ERR_PROC_ABORTED ? 0 : 4);
}
