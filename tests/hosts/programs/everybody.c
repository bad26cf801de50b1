/* everybody: each rank with each, all at once: as messages, as MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw, all checked. */
#include "check.h"

/* How much `from` sends `to`: from nothing to some hundred kilobytes. */
static int share(int from, int to, int round) { return (from * 7919 + to * 104729 + round * 1299709) % (round == 0 ? 100 : round == 1 ? 20000 : 300000); }

static void messages(int round)
{
    MPI_Request *requests = memory(2 * (size_t)size * sizeof *requests);
    unsigned char **in = memory((size_t)size * sizeof *in), **out = memory((size_t)size * sizeof *out);
    for (int peer = 0; peer < size; peer++) {
        in[peer] = memory((size_t)share(peer, rank, round));
        MPI_Irecv(in[peer], share(peer, rank, round), MPI_BYTE, peer, round, MPI_COMM_WORLD, &requests[peer]);
    }
    for (int peer = 0; peer < size; peer++) {
        out[peer] = memory((size_t)share(rank, peer, round));
        fill(out[peer], (size_t)share(rank, peer, round), rank, peer);
        MPI_Isend(out[peer], share(rank, peer, round), MPI_BYTE, peer, round, MPI_COMM_WORLD, &requests[size + peer]);
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < size; peer++) {
        REQUIRE(holds(in[peer], (size_t)share(peer, rank, round), peer, rank));
        free(in[peer]), free(out[peer]);
    }
    free(in), free(out), free(requests);
}

static void fixed(int bytes)
{
    unsigned char *out = memory((size_t)bytes * (size_t)size), *in = memory((size_t)bytes * (size_t)size);
    for (int peer = 0; peer < size; peer++)
        fill(out + (size_t)peer * (size_t)bytes, (size_t)bytes, rank, peer);
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int peer = 0; peer < size; peer++)
        REQUIRE(holds(in + (size_t)peer * (size_t)bytes, (size_t)bytes, peer, rank));
    free(out), free(in);
}

static void uneven(int round, int by_types)
{
    int *numbers = memory(4 * (size_t)size * sizeof *numbers), *sent = numbers, *sent_at = sent + size, *got = sent_at + size, *got_at = got + size;
    MPI_Datatype *types = memory((size_t)size * sizeof *types);
    int out_bytes = 0, in_bytes = 0;
    for (int peer = 0; peer < size; peer++) {
        sent[peer] = share(rank, peer, round), sent_at[peer] = out_bytes, out_bytes += sent[peer];
        got[peer] = share(peer, rank, round), got_at[peer] = in_bytes, in_bytes += got[peer];
        types[peer] = MPI_BYTE;
    }
    unsigned char *out = memory((size_t)out_bytes), *in = memory((size_t)in_bytes);
    for (int peer = 0; peer < size; peer++)
        fill(out + sent_at[peer], (size_t)sent[peer], rank, peer);
    if (by_types)
        MPI_Alltoallw(out, sent, sent_at, types, in, got, got_at, types, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(out, sent, sent_at, MPI_BYTE, in, got, got_at, MPI_BYTE, MPI_COMM_WORLD);
    for (int peer = 0; peer < size; peer++)
        REQUIRE(holds(in + got_at[peer], (size_t)got[peer], peer, rank));
    free(out), free(in), free(numbers), free(types);
}

int main(int count, char **words)
{
    begin(&count, &words);
    for (int round = 0; round < 3; round++) {
        messages(round);
        uneven(round, 0);
        uneven(round, 1);
    }
    for (int bytes = 1; bytes <= 1 << 18; bytes *= 8)
        fixed(bytes);
    end("everybody");
    return 0;
}
