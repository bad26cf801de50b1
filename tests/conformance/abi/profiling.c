/* The profiling interface: a program's own MPI_Barrier replaces the library's, which stays as PMPI_Barrier;
 * the library itself does not call through the replaced name. */
#include "check.h"

static int intercepted_sends, intercepted_barriers;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    intercepted_sends++;
    return PMPI_Send(buffer, count, type, dest, tag, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    intercepted_barriers++;
    return PMPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    int value = 3, got = 0, sum = 0;
    MPI_Request request;
    check_start(&argc, &argv, "profiling");
    PMPI_Irecv(&got, 1, MPI_INT, left_neighbour(), 4, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, right_neighbour(), 4, MPI_COMM_WORLD);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 3, "MPI-5.0 §15.2");
    CHECK_EQUAL(intercepted_sends, 1, "MPI-5.0 §15.2");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(intercepted_barriers, 1, "MPI-5.0 §15.2");
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, 3 * size_of_world, "MPI-5.0 §15.2");
    CHECK(intercepted_sends == 1 && intercepted_barriers == 1,
          "MPI-5.0 §15.2.1: one user call is intercepted once, whatever the library does inside");
    return check_finish();
}
