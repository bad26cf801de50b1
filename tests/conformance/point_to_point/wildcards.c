/* MPI_ANY_SOURCE and MPI_ANY_TAG: which posted receive a message takes, which message a receive takes. */
#include "check.h"

/* A synchronous send proves the match: it completes only when its receive has started. */
static void send_matched(int value, int tag)
{
    MPI_Ssend(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

/* Receives posted in the order {specific, any source, any tag, both}: each message takes the oldest that
 * fits, and a receive that does not fit is passed over. */
static void oldest_fitting_receive(void)
{
    if (rank_of_world == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send_matched(20, 2);
        send_matched(10, 1);
        send_matched(11, 1);
        send_matched(30, 3);
    } else if (rank_of_world == 0) {
        int got[4] = { -1, -1, -1, -1 };
        MPI_Request requests[4];
        MPI_Status statuses[4];
        MPI_Irecv(&got[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&got[2], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Irecv(&got[3], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[3]);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD);
        MPI_Waitall(4, requests, statuses);
        CHECK(got[0] == 10 && statuses[0].MPI_TAG == 1, "MPI-5.0 §3.5");
        CHECK(got[1] == 11 && statuses[1].MPI_TAG == 1, "MPI-5.0 §3.5");
        CHECK(got[2] == 20 && statuses[2].MPI_TAG == 2, "MPI-5.0 §3.5");
        CHECK(got[3] == 30 && statuses[3].MPI_TAG == 3, "MPI-5.0 §3.5");
        for (int i = 0; i < 4; i++)
            CHECK_EQUAL(statuses[i].MPI_SOURCE, 1, "MPI-5.0 §3.2.5");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same with the messages there first: a wildcard takes the oldest that fits. */
static void oldest_fitting_message(void)
{
    if (rank_of_world == 1) {
        int values[4] = { 1, 2, 3, 4 }, tags[4] = { 7, 8, 7, 9 };
        MPI_Request requests[4];
        for (int i = 0; i < 4; i++)
            MPI_Isend(&values[i], 1, MPI_INT, 0, tags[i], MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else if (rank_of_world == 0) {
        int got = -1;
        MPI_Status status;
        MPI_Probe(1, 9, MPI_COMM_WORLD, &status);
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
        CHECK(got == 2 && status.MPI_SOURCE == 1, "MPI-5.0 §3.5");
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(got == 1 && status.MPI_TAG == 7, "MPI-5.0 §3.5");
        MPI_Recv(&got, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(got == 3 && status.MPI_TAG == 7, "MPI-5.0 §3.5");
        MPI_Recv(&got, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(got, 4, "MPI-5.0 §3.5");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank sends to every rank; all are received by full wildcards, each sender's in its order. */
static void many_to_many(void)
{
    enum { EACH = 50 };
    int total = EACH * size_of_world;
    MPI_Request *sends = need((size_t)total * sizeof *sends);
    int *values = need((size_t)total * sizeof(int)), *next = calloc((size_t)size_of_world, sizeof(int));
    for (int i = 0; i < total; i++) {
        values[i] = i / size_of_world;
        MPI_Isend(&values[i], 1, MPI_INT, i % size_of_world, 100 + i % 7, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < total; i++) {
        int got = -1;
        MPI_Status status;
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < size_of_world, "MPI-5.0 §3.2.5");
        CHECK_EQUAL(got, next[status.MPI_SOURCE], "MPI-5.0 §3.5: order of each sender");
        next[status.MPI_SOURCE]++;
        int sent_as = got * size_of_world + rank_of_world;
        CHECK_EQUAL(status.MPI_TAG, 100 + sent_as % 7, "MPI-5.0 §3.2.5");
    }
    MPI_Waitall(total, sends, MPI_STATUSES_IGNORE);
    free(sends);
    free(values);
    free(next);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "wildcards");
    if (size_of_world > 1) {
        oldest_fitting_receive();
        oldest_fitting_message();
    }
    many_to_many();
    return check_finish();
}
