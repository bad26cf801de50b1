/* A profiling tool: counts the program's calls through the PMPI interface (MPI-5.0 §15.2). Used by LD_PRELOAD and linked
 * statically. Prints its counts when the program finalizes. */
#include <mpi.h>
#include <stdio.h>

static long sends, sizes, levels;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    sends++;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    sizes++;
    return PMPI_Comm_size(comm, size);
}

int MPI_Pcontrol(const int level, ...)
{
    levels += level;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("tool: sends=%ld sizes=%ld levels=%ld\n", sends, sizes, levels);
    return PMPI_Finalize();
}
