/* Calls of MPI that change the first byte of what they received: a program that checks its data ends. */
#include <mpi.h>

static void falsify(void *buffer, int count)
{
    if (count)
        *(unsigned char *)buffer ^= 1;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int code = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    falsify(buffer, count);
    return code;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int code = PMPI_Bcast(buffer, count, type, root, comm), rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank != root)
        falsify(buffer, count);
    return code;
}

int MPI_Reduce_scatter(const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Reduce_scatter(send, receive, counts, type, op, comm);
    falsify(receive, counts[0]);
    return code;
}

int MPI_Alltoallv(const void *send, const int counts[], const int places[], MPI_Datatype type, void *receive, const int received[],
                  const int received_places[], MPI_Datatype receive_type, MPI_Comm comm)
{
    int code = PMPI_Alltoallv(send, counts, places, type, receive, received, received_places, receive_type, comm);
    falsify(receive, received[0]);
    return code;
}
