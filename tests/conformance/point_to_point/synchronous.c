/* A synchronous send completes only after its receive has started: MPI-5.0 §3.4. No timing is assumed: the
 * receiver starts its receive only after it was told that the send was seen incomplete. */
#include "check.h"

static const int sizes[] = { 0, 1, 40, 1000, 10000, 100000, 1000000 };

static void seen_incomplete(MPI_Request *request)
{
    int flag = -1;
    for (int i = 0; i < 200; i++) {
        if (*request != MPI_REQUEST_NULL) {
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
            CHECK(flag == 0, "MPI-5.0 §3.4: a synchronous send completes after the receive started");
        }
        int unrelated = -1;
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &unrelated, MPI_STATUS_IGNORE);
        CHECK(unrelated == 0, "MPI-5.0 §3.8.1");
    }
}

static void between_ranks(int bytes, int persistent)
{
    unsigned char *buffer = need((size_t)bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank_of_world == 0) {
        fill_pattern(buffer, (size_t)bytes, 5);
        if (persistent) {
            MPI_Ssend_init(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
        } else {
            MPI_Issend(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        }
        seen_incomplete(&request);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (persistent)
            MPI_Request_free(&request);
    } else if (rank_of_world == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_pattern(buffer, (size_t)bytes, 5), "MPI-5.0 §3.4");
    }
    free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A probe starts no receive, so it does not complete the send either. */
static void to_self(int bytes)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request request;
    fill_pattern(out, (size_t)bytes, 9);
    MPI_Issend(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    seen_incomplete(&request);
    MPI_Probe(0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    seen_incomplete(&request);
    MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(has_pattern(in, (size_t)bytes, 9), "MPI-5.0 §3.4");
    free(out);
    free(in);
}

/* A blocking synchronous send between ranks whose receive comes from a wildcard. */
static void blocking_ring(int bytes)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request request;
    fill_pattern(out, (size_t)bytes, 7);
    MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Ssend(out, bytes, MPI_BYTE, right_neighbour(), 4, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(has_pattern(in, (size_t)bytes, 7), "MPI-5.0 §3.4");
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "synchronous");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        if (size_of_world > 1) {
            between_ranks(sizes[s], 0);
            between_ranks(sizes[s], 1);
        }
        to_self(sizes[s]);
        blocking_ring(sizes[s]);
    }
    return check_finish();
}
