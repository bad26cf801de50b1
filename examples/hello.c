/* The smallest complete MPI program: every process says who it is.
 *
 *     mpicc hello.c -o hello && mpiexec -n 4 hello
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, length, major, minor;
    char processor[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);

    /* A process is named by its rank in a communicator; MPI_COMM_WORLD holds every process of the job. */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(processor, &length);
    MPI_Get_version(&major, &minor);

    /* The lines of different ranks may come in any order. */
    printf("hello from rank %d of %d on %s (MPI %d.%d)\n", rank, size, processor, major, minor);

    MPI_Finalize();
    return 0;
}
