/* MPI_ERRORS_ABORT on MPI_COMM_WORLD ends its processes (MPI-5.0 §9.3).
 * exit: nonzero */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 0;
    check_start(&argc, &argv, "errors_abort");
    check_say_started("errors_abort");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world == size_of_world - 1)
        MPI_Send(&value, 1, MPI_INT, size_of_world, 0, MPI_COMM_WORLD);
    /* The other ranks wait for a message that nobody sends: only the failing rank can end them. */
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_finish();
}
