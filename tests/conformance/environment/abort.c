/* MPI_Abort ends the whole job while the other ranks block (MPI-5.0 §9.3, §11.4).
 * exit: 7 */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 0;
    check_start(&argc, &argv, "abort");
    check_say_started("abort");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world == size_of_world - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_finish();
}
