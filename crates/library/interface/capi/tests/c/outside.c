/* A call before MPI_Init, or with any argument after MPI_Finalize, is fatal under the initial error handler. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    int rank;
    (void)argv;
    if (argc > 1) {
        MPI_Init(NULL, NULL);
        MPI_Finalize();
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 0;
}
