/* Every collective operation of an inter-communicator in every form: MPI-5.0 §6.2.3 and each operation's section. The
 * groups are of all sizes that there are processes for. */
#include "every_form.h"

static void between(int first_size)
{
    MPI_Comm half, inter;
    int high = rank_of_world >= first_size;
    MPI_Comm_split(MPI_COMM_WORLD, high, rank_of_world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : first_size, 3, &inter);
    every_operation(inter, 0, high);
    every_operation(inter, 3, high);
    every_operation(inter, 700, high);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "between_groups");
    for (int first_size = 1; first_size < size_of_world; first_size++)
        between(first_size);
    return check_finish();
}
