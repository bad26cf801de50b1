/* A process sends to itself, on MPI_COMM_SELF and on the world, early and late, small and large. */
#include "check.h"

static const int sizes[] = { 0, 1, 40, 41, 64, 4096, 65536, 262145, 1048577, 5000000 };

static void once(MPI_Comm comm, int me, int bytes, int send_first)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request send, receive;
    MPI_Status status;
    fill_pattern(out, (size_t)bytes, 2);
    if (send_first)
        MPI_Isend(out, bytes, MPI_BYTE, me, 8, comm, &send);
    MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 8, comm, &receive);
    if (!send_first)
        MPI_Isend(out, bytes, MPI_BYTE, me, 8, comm, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, &status);
    CHECK_EQUAL(status.MPI_SOURCE, me, "MPI-5.0 §3.2.4: source and destination may be the same");
    CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §3.2.5");
    CHECK(has_pattern(in, (size_t)bytes, 2), "MPI-5.0 §3.2.4");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "self_messages");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int send_first = 0; send_first < 2; send_first++) {
            once(MPI_COMM_SELF, 0, sizes[s], send_first);
            once(MPI_COMM_WORLD, rank_of_world, sizes[s], send_first);
        }
    return check_finish();
}
