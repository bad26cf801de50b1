/* Persistent requests: started again and again, singly and together, with the buffer's contents of the day. */
#include "check.h"

enum { ROUNDS = 50, REQUESTS = 16, LENGTH = 700 };
static int out[REQUESTS][LENGTH], in[REQUESTS][LENGTH];

static void create(MPI_Request *requests)
{
    int (*const inits[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Send_init, MPI_Ssend_init,
    };
    for (int i = 0; i < REQUESTS; i++) {
        int length = i % 3 ? LENGTH : 3;
        inits[i % 2](out[i], length, MPI_INT, right_neighbour(), i / 4, MPI_COMM_WORLD, &requests[i]);
        MPI_Recv_init(in[i], length, MPI_INT, i % 4 ? left_neighbour() : MPI_ANY_SOURCE, i / 4,
                      MPI_COMM_WORLD, &requests[REQUESTS + i]);
    }
}

static void fill(int round)
{
    for (int i = 0; i < REQUESTS; i++)
        for (int k = 0; k < LENGTH; k++) {
            out[i][k] = round * 1000000 + i * 1000 + k;
            in[i][k] = -1;
        }
}

static void check_received(int round)
{
    for (int i = 0; i < REQUESTS; i++) {
        int length = i % 3 ? LENGTH : 3;
        CHECK_EQUAL(in[i][0], round * 1000000 + i * 1000, "MPI-5.0 §3.9");
        CHECK_EQUAL(in[i][length - 1], round * 1000000 + i * 1000 + length - 1, "MPI-5.0 §3.9");
        if (length < LENGTH)
            CHECK_EQUAL(in[i][length], -1, "MPI-5.0 §3.2.4");
    }
}

static void start(MPI_Request *requests, int round)
{
    if (round % 3 == 0) {
        MPI_Startall(2 * REQUESTS, requests);
    } else if (round % 3 == 1) {
        for (int i = 0; i < 2 * REQUESTS; i++)
            MPI_Start(&requests[i]);
    } else {
        MPI_Startall(REQUESTS, requests + REQUESTS);
        MPI_Startall(REQUESTS, requests);
    }
}

/* Completed by index, one after the other: the requests stay and become inactive. */
static void finish(MPI_Request *requests, int round)
{
    if (round % 2) {
        MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
        return;
    }
    for (int left = 2 * REQUESTS; left > 0; left--) {
        int index = -1;
        MPI_Waitany(2 * REQUESTS, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < 2 * REQUESTS, "MPI-5.0 §3.7.5");
        CHECK(requests[index] != MPI_REQUEST_NULL, "MPI-5.0 §3.9");
    }
    int index = 0;
    MPI_Waitany(2 * REQUESTS, requests, &index, MPI_STATUS_IGNORE);
    CHECK_EQUAL(index, MPI_UNDEFINED, "MPI-5.0 §3.7.5: all inactive");
}

int main(int argc, char **argv)
{
    MPI_Request requests[2 * REQUESTS];
    check_start(&argc, &argv, "persistent");
    create(requests);
    for (int round = 0; round < ROUNDS; round++) {
        fill(round);
        start(requests, round);
        finish(requests, round);
        check_received(round);
    }
    CHECK_EQUAL(MPI_Startall(0, NULL), MPI_SUCCESS, "MPI-5.0 §3.9: an empty list");
    for (int i = 0; i < 2 * REQUESTS; i++) {
        MPI_Request_free(&requests[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL, "MPI-5.0 §3.9");
    }
    return check_finish();
}
