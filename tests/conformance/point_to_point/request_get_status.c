/* MPI_Request_get_status and its forms for any, all and some: they tell, and leave the requests. */
#include "check.h"

enum { REQUESTS = 5 };
static MPI_Request requests[REQUESTS];
static MPI_Status statuses[REQUESTS];
static int got[REQUESTS];

static void post(void)
{
    for (int i = 0; i < REQUESTS; i++) {
        got[i] = -1;
        MPI_Irecv(&got[i], 1, MPI_INT, left_neighbour(), i, MPI_COMM_WORLD, &requests[i]);
    }
}

static void send(int tag)
{
    int value = 10 + tag;
    MPI_Send(&value, 1, MPI_INT, right_neighbour(), tag, MPI_COMM_WORLD);
}

static void one(void)
{
    int flag = -1;
    post();
    MPI_Request_get_status(requests[3], &flag, &statuses[0]);
    CHECK(flag == 0, "MPI-5.0 §3.7.6");
    MPI_Barrier(MPI_COMM_WORLD);
    send(3);
    for (flag = 0; !flag;)
        MPI_Request_get_status(requests[3], &flag, &statuses[0]);
    for (int again = 0; again < 3; again++) {
        memset(&statuses[0], 0x11, sizeof statuses[0]);
        MPI_Request_get_status(requests[3], &flag, &statuses[0]);
        CHECK(flag == 1, "MPI-5.0 §3.7.6: not deallocated, asked again");
        CHECK(statuses[0].MPI_TAG == 3 && statuses[0].MPI_SOURCE == left_neighbour(), "MPI-5.0 §3.7.6");
        CHECK_EQUAL(status_count(&statuses[0], MPI_INT), 1, "MPI-5.0 §3.7.6");
        CHECK_EQUAL(got[3], 13, "MPI-5.0 §3.7.6");
    }
    CHECK(requests[3] != MPI_REQUEST_NULL, "MPI-5.0 §3.7.6");
}

/* One of five is complete. */
static void several(void)
{
    int index = -1, flag = -1, done = -1, indices[REQUESTS];
    MPI_Request_get_status_any(REQUESTS, requests, &index, &flag, &statuses[0]);
    CHECK(flag == 1 && index == 3 && statuses[0].MPI_TAG == 3, "MPI-5.0 §3.7.6");
    MPI_Request_get_status_some(REQUESTS, requests, &done, indices, statuses);
    CHECK(done == 1 && indices[0] == 3 && statuses[0].MPI_TAG == 3, "MPI-5.0 §3.7.6");
    MPI_Request_get_status_all(REQUESTS, requests, &flag, statuses);
    CHECK(flag == 0, "MPI-5.0 §3.7.6");
    MPI_Request_get_status_any(3, requests, &index, &flag, &statuses[0]);
    CHECK(flag == 0 && index == MPI_UNDEFINED, "MPI-5.0 §3.7.6");
    MPI_Request_get_status_some(3, requests, &done, indices, statuses);
    CHECK_EQUAL(done, 0, "MPI-5.0 §3.7.6");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 0; tag < REQUESTS; tag++)
        if (tag != 3)
            send(tag);
    for (flag = 0; !flag;)
        MPI_Request_get_status_all(REQUESTS, requests, &flag, statuses);
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(requests[i] != MPI_REQUEST_NULL, "MPI-5.0 §3.7.6");
        CHECK(statuses[i].MPI_TAG == i && got[i] == 10 + i, "MPI-5.0 §3.7.6");
    }
    MPI_Request_get_status_some(REQUESTS, requests, &done, indices, statuses);
    CHECK_EQUAL(done, REQUESTS, "MPI-5.0 §3.7.6");
    MPI_Request_get_status_all(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag == 1, "MPI-5.0 §3.2.6");
    MPI_Waitall(REQUESTS, requests, statuses);
    for (int i = 0; i < REQUESTS; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL && statuses[i].MPI_TAG == i, "MPI-5.0 §3.7.6");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "request_get_status");
    for (int round = 0; round < 10; round++) {
        one();
        several();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_finish();
}
