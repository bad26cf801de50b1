/* ranks: 2
 * What a process has begun goes on while it does nothing but probe for something else (MPI-5.0 §2.9): a long message with gaps,
 * which its sender has to go on with, and probes on another communicator, whose message comes once the long one is there. */
#include "check.h"

enum { BLOCKS = 1 << 19, ROUNDS = 6, LONG = 1, DONE = 2 };

/* Until the other rank's message is found by calls of one kind. */
static void probe_until_done(MPI_Comm comm, int kind)
{
    int found = 0;
    MPI_Status status;
    MPI_Message message;
    while (!found && kind == 0)
        MPI_Iprobe(1, DONE, comm, &found, &status);
    while (!found && kind == 1)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &status);
    if (kind == 2) {
        while (!found)
            MPI_Improbe(1, DONE, comm, &found, &message, &status);
        MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 1, DONE, comm, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(status.MPI_TAG, DONE, "MPI-5.0 §3.8.1");
}

int main(int argc, char **argv)
{
    MPI_Comm comms[ROUNDS + 1];
    MPI_Datatype gaps;
    double *data = calloc(2 * BLOCKS, sizeof *data);
    check_start_threads(&argc, &argv, "progress_beside_probes");
    MPI_Type_vector(BLOCKS, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i <= ROUNDS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank_of_world == 0) {
            MPI_Request sent;
            data[2 * BLOCKS - 2] = i + 1;
            MPI_Isend(data, 1, gaps, 1, LONG, comms[i], &sent);
            probe_until_done(comms[i + 1], i % 3);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, 1, gaps, 0, LONG, comms[i], MPI_STATUS_IGNORE);
            CHECK(data[2 * BLOCKS - 2] == i + 1, "MPI-5.0 §3.2.4");
            MPI_Send(NULL, 0, MPI_INT, 0, DONE, comms[i + 1]);
        }
    }
    for (int i = 0; i <= ROUNDS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Type_free(&gaps);
    free(data);
    return check_finish();
}
