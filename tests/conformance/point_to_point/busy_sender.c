/* A long message whose sender computes for longer or shorter after MPI_Isend: its receiver has what was sent, and not what
 * the sender writes to the buffer once the send is complete (MPI-5.0 §3.7.3). */
#include "check.h"

enum { ROUNDS = 400, LEAST = 520000, MOST = 3000000 };

static size_t bytes_of(int round)
{
    return LEAST + (size_t)round * 7919 % (MOST - LEAST);
}

/* Some of the time a receiver needs, or more. */
static void compute(int round)
{
    double end = MPI_Wtime() + (round * 37 % 100) * 4e-6;
    while (MPI_Wtime() < end)
        continue;
}

static void send_rounds(int to)
{
    unsigned char *out = need(MOST);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        fill_pattern(out, bytes_of(round), (unsigned)round);
        MPI_Isend(out, (int)bytes_of(round), MPI_BYTE, to, round, MPI_COMM_WORLD, &request);
        compute(round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        memset(out, 0xEE, bytes_of(round));
    }
    free(out);
}

static void receive_rounds(int from)
{
    unsigned char *in = need(MOST);
    for (int round = 0; round < ROUNDS; round++) {
        memset(in, 0x77, bytes_of(round));
        MPI_Recv(in, (int)bytes_of(round), MPI_BYTE, from, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_pattern(in, bytes_of(round), (unsigned)round), "MPI-5.0 §3.7.3", "round %d", round);
    }
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "busy_sender");
    if (size_of_world > 1 && rank_of_world == 1)
        send_rounds(0);
    else if (size_of_world > 1 && rank_of_world == 0)
        receive_rounds(1);
    return check_finish();
}
