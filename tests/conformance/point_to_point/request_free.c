/* MPI_Request_free of active requests: the communication still completes (MPI-5.0 §3.7.3). */
#include "check.h"

static const int sizes[] = { 0, 8, 4096, 100000, 3000000 };

typedef int starting_send(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void freed_send(int bytes, starting_send *start, int persistent)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request request;
    fill_pattern(out, (size_t)bytes, 3);
    start(out, bytes, MPI_BYTE, right_neighbour(), 2, MPI_COMM_WORLD, &request);
    if (persistent)
        MPI_Start(&request);
    CHECK_EQUAL(MPI_Request_free(&request), MPI_SUCCESS, "MPI-5.0 §3.7.3");
    CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    MPI_Recv(in, bytes, MPI_BYTE, left_neighbour(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(has_pattern(in, (size_t)bytes, 3), "MPI-5.0 §3.7.3");
    /* All have received: every send buffer is free. */
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

/* A freed receive completes too; a later message from the same sender tells when. */
static void freed_receive(void)
{
    int got = -1, value = 21, marker = 0;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, left_neighbour(), 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, right_neighbour(), 3, MPI_COMM_WORLD);
    MPI_Sendrecv(&value, 1, MPI_INT, right_neighbour(), 4, &marker, 1, MPI_INT, left_neighbour(), 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (volatile int *landed = &got; *landed != 21;) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(got, 21, "MPI-5.0 §3.7.3");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Freed sends in great number do not disturb each other. */
static void many(void)
{
    enum { SENDS = 2000 };
    static int values[SENDS];
    for (int i = 0; i < SENDS; i++) {
        MPI_Request request;
        values[i] = 5 * i;
        MPI_Isend(&values[i], 1, MPI_INT, right_neighbour(), 5, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    for (int i = 0; i < SENDS; i++) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, left_neighbour(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, 5 * i, "MPI-5.0 §3.7.3");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "request_free");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        freed_send(sizes[s], MPI_Isend, 0);
        freed_send(sizes[s], MPI_Issend, 0);
        freed_send(sizes[s], MPI_Send_init, 1);
        freed_send(sizes[s], MPI_Ssend_init, 1);
    }
    freed_receive();
    many();
    return check_finish();
}
