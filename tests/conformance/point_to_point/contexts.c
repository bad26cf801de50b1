/* Messages of different communicators never meet, even with equal source, tag and size. */
#include "check.h"

enum { COMMS = 8, ROUNDS = 40 };

/* Sent on communicator 0 to 7, received on 7 to 0, by wildcards. */
static void interleaved(MPI_Comm *comms)
{
    int values[COMMS], got[COMMS];
    MPI_Request sends[COMMS];
    MPI_Status status;
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < COMMS; c++) {
            values[c] = round * 100 + c;
            MPI_Isend(&values[c], 1, MPI_INT, right_neighbour(), 3, comms[c], &sends[c]);
        }
        for (int c = COMMS - 1; c >= 0; c--) {
            MPI_Recv(&got[c], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &status);
            CHECK_EQUAL(got[c], round * 100 + c, "MPI-5.0 §7.1.1: contexts");
            CHECK_EQUAL(status.MPI_SOURCE, left_neighbour(), "MPI-5.0 §3.2.5");
        }
        MPI_Waitall(COMMS, sends, MPI_STATUSES_IGNORE);
    }
}

/* Point-to-point wildcards do not see the messages of a collective on the same communicator. */
static void collectives_are_apart(MPI_Comm comm)
{
    int caught = -1, sum = -1, value = rank_of_world;
    MPI_Request request;
    MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQUAL(sum, size_of_world * (size_of_world - 1) / 2, "MPI-5.0 §6.1");
        MPI_Bcast(&sum, 1, MPI_INT, i % size_of_world, comm);
        MPI_Barrier(comm);
    }
    int flag = -1;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "MPI-5.0 §6.1: collective messages do not match point-to-point receives");
    MPI_Barrier(comm);
    value = 1000 + rank_of_world;
    MPI_Send(&value, 1, MPI_INT, right_neighbour(), 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(caught, 1000 + left_neighbour(), "MPI-5.0 §6.1");
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    check_start(&argc, &argv, "contexts");
    comms[0] = MPI_COMM_WORLD;
    for (int c = 1; c < COMMS; c++)
        MPI_Comm_dup(comms[c / 2], &comms[c]);
    interleaved(comms);
    collectives_are_apart(comms[3]);
    for (int c = 1; c < COMMS; c++)
        MPI_Comm_free(&comms[c]);
    return check_finish();
}
