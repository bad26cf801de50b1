/* lock_holder: rank 1 is killed while it has the exclusive lock of rank 0's part of a window. The others, which do not let the
 * launcher's SIGTERM end them, must get an error when they ask for the lock, soon, and no lock; then they print "ok lock_holder RANK". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, class, text_length, code, *base;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGTERM, SIG_IGN);
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    double begin = seconds();
    code = MPI_Win_lock(rank ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &text_length);
    if (class != MPI_ERR_PROC_ABORTED || seconds() - begin > 1.5) {
        printf("rank %d: class %d after %.1f s: %s\n", rank, class, seconds() - begin, text);
        exit(3);
    }
    /* There is no lock, so no epoch. */
    code = MPI_Win_unlock(0, win);
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_RMA_SYNC) {
        printf("rank %d: an epoch without the lock\n", rank);
        exit(4);
    }
    printf("ok lock_holder %d\n", rank);
    fflush(stdout);
    raise(SIGKILL);
    return 0;
}
