/* fatal: rank 1 makes a fatal error while its parent, which passes on what it writes, is stopped for 100 ms: it then finds both what
 * the rank said and that the job is aborted. */
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static void stop_the_parent_for_a_while(void)
{
    pid_t parent = getppid();
    if (fork() == 0) {
        usleep(100000);
        kill(parent, SIGCONT);
        _exit(0);
    }
    kill(parent, SIGSTOP);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        stop_the_parent_for_a_while();
        MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
