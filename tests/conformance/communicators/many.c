/* Many communicators alive at once, each with traffic of its own.
 *
 * The standard sets no number; 4096 is what this library promises at least. MPICH 5.0.2 has 2048 and fails. */
#include "check.h"

enum { COMMS = 4096 };
static MPI_Comm comms[COMMS];
static MPI_Request receives[COMMS];
static int in[COMMS];

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "many");
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < COMMS; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &receives[i]);
    for (int k = 0; k < COMMS; k++) {
        int i = (k * 1237) % COMMS;
        MPI_Send(&i, 1, MPI_INT, right_neighbour(), 0, comms[i]);
    }
    MPI_Waitall(COMMS, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COMMS; i++) {
        CHECK_EQUAL(in[i], i, "MPI-5.0 §7.1.1");
        MPI_Comm_free(&comms[i]);
    }
    return check_finish();
}
