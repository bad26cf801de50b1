/* MPI_Comm_free marks for deallocation: communication under way completes (MPI-5.0 §7.4.3). */
#include "check.h"

static const int sizes[] = { 0, 8, 5000, 100000, 2000000 };

static void pending(int bytes, int send_first)
{
    MPI_Comm comm;
    MPI_Request requests[2];
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    fill_pattern(out, (size_t)bytes, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!send_first) {
        MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
        MPI_Barrier(comm);
    }
    MPI_Isend(out, bytes, MPI_BYTE, right_neighbour(), 3, comm, &requests[1]);
    if (send_first)
        MPI_Irecv(in, bytes, MPI_BYTE, left_neighbour(), 3, comm, &requests[0]);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.3");
    /* A new communicator, which may not be mixed up with the one that still has traffic. */
    MPI_Comm next;
    int value = 71, got = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Sendrecv(&value, 1, MPI_INT, right_neighbour(), 3, &got, 1, MPI_INT, left_neighbour(), 3, next,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 71, "MPI-5.0 §7.4.3");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(has_pattern(in, (size_t)bytes, 2), "MPI-5.0 §7.4.3");
    MPI_Comm_free(&next);
    free(out);
    free(in);
}

/* A persistent request keeps working after its communicator was freed. */
static void persistent(void)
{
    MPI_Comm comm;
    MPI_Request requests[2];
    int out = 0, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(&in, 1, MPI_INT, left_neighbour(), 4, comm, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, right_neighbour(), 4, comm, &requests[1]);
    MPI_Comm_free(&comm);
    for (out = 0; out < 5; out++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK_EQUAL(in, out, "MPI-5.0 §7.4.3");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "free_pending");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int send_first = 0; send_first < 2; send_first++)
            pending(sizes[s], send_first);
    persistent();
    return check_finish();
}
