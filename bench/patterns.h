/* The operations of `patterns`: what one call of each does, and whether what the last one received is right. */
#ifndef WEFT_BENCH_PATTERNS_H
#define WEFT_BENCH_PATTERNS_H

#include "ranks.h"

enum { TAG = 1, WINDOW = 64, FLOAT_BYTES = 4 };

/* What an operation of one size works on. Buffers of successive calls take turns through the slots. */
struct traffic {
    MPI_Comm comm;
    int bytes;
    unsigned char *send, *receive;
    size_t stride, offset;
    int slots;
};

static unsigned char *slot_of(unsigned char *memory, const struct traffic *t, int turn)
{
    return memory + (size_t)(turn % t->slots) * t->stride + t->offset;
}

static unsigned char *out(const struct traffic *t, int turn)
{
    return slot_of(t->send, t, turn);
}

static unsigned char *in(const struct traffic *t, int turn)
{
    return slot_of(t->receive, t, turn);
}

/* ---- what is sent, and whether it came ---- */

/* Every byte that rank `from` sends to rank `to`; to all it sends what it sends to rank 0. Never 0. */
static int stamp(int from, int to)
{
    return (from * 31 + to * 7) % 255 + 1;
}

/* Every number that a rank adds: sums of them are exact. */
static float summand(int rank)
{
    return (float)(1 + rank % 16);
}

static bool holds(const unsigned char *block, int bytes, int value)
{
    return bytes == 0 || (block[0] == value && (bytes == 1 || !memcmp(block, block + 1, (size_t)bytes - 1)));
}

static bool holds_sums(const unsigned char *block, int count)
{
    const float *values = (const void *)block;
    float sum = 0;
    for (int rank = 0; rank < rank_count; rank++)
        sum += summand(rank);
    for (int i = 0; i < count; i++)
        if (values[i] != sum)
            return false;
    return true;
}

static bool anything(struct traffic *t, int turn)
{
    (void)t;
    (void)turn;
    return true;
}

/* ---- pairs: rank i and rank i + N/2 ---- */

enum { NOBODY = -1 };

static int partner(void)
{
    int half = rank_count / 2;
    return my_rank < half ? my_rank + half : my_rank < 2 * half ? my_rank - half : NOBODY;
}

static bool is_first(void)
{
    return my_rank < rank_count / 2;
}

static void pingpong(struct traffic *t, int turn)
{
    int peer = partner();
    if (peer == NOBODY)
        return;
    if (is_first())
        MPI_Send(out(t, turn), t->bytes, MPI_BYTE, peer, TAG, t->comm);
    MPI_Recv(in(t, turn), t->bytes, MPI_BYTE, peer, MPI_ANY_TAG, t->comm, MPI_STATUS_IGNORE);
    if (!is_first())
        MPI_Send(out(t, turn), t->bytes, MPI_BYTE, peer, TAG, t->comm);
}

static void pingping(struct traffic *t, int turn)
{
    int peer = partner();
    MPI_Request request;
    if (peer == NOBODY)
        return;
    MPI_Isend(out(t, turn), t->bytes, MPI_BYTE, peer, TAG, t->comm, &request);
    MPI_Recv(in(t, turn), t->bytes, MPI_BYTE, peer, MPI_ANY_TAG, t->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static bool from_partner(struct traffic *t, int turn)
{
    int peer = partner();
    return peer == NOBODY || holds(in(t, turn), t->bytes, stamp(peer, 0));
}

/* A window of messages one way or both, all of a window in one buffer unless slots are there for them, as users of IMB and OSU
 * know it; then an answer. */
static void window(struct traffic *t, bool sends, bool receives)
{
    int peer = partner(), count = 0;
    MPI_Request requests[2 * WINDOW];
    if (peer == NOBODY)
        return;
    for (int i = 0; receives && i < WINDOW; i++)
        MPI_Irecv(in(t, i), t->bytes, MPI_BYTE, peer, TAG, t->comm, &requests[count++]);
    for (int i = 0; sends && i < WINDOW; i++)
        MPI_Isend(out(t, i), t->bytes, MPI_BYTE, peer, TAG, t->comm, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (is_first())
        MPI_Recv(0, 0, MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(0, 0, MPI_BYTE, peer, TAG, t->comm);
}

static void uniband(struct traffic *t, int turn)
{
    (void)turn;
    window(t, is_first(), !is_first());
}

static void biband(struct traffic *t, int turn)
{
    (void)turn;
    window(t, true, true);
}

static bool last_of_window(struct traffic *t, int turn)
{
    (void)turn;
    return from_partner(t, WINDOW - 1);
}

static bool last_one_way(struct traffic *t, int turn)
{
    return is_first() || last_of_window(t, turn);
}

/* ---- a ring: to the next rank, from the one before, and the other way too ---- */

static int next(void)
{
    return (my_rank + 1) % rank_count;
}

static int before(void)
{
    return (my_rank + rank_count - 1) % rank_count;
}

static void sendrecv(struct traffic *t, int turn)
{
    MPI_Sendrecv(out(t, turn), t->bytes, MPI_BYTE, next(), TAG, in(t, turn), t->bytes, MPI_BYTE, before(), MPI_ANY_TAG, t->comm,
                 MPI_STATUS_IGNORE);
}

static bool from_before(struct traffic *t, int turn)
{
    return holds(in(t, turn), t->bytes, stamp(before(), 0));
}

/* A block for each side is sent; one receive is over before the next begins, into the same buffer. */
static void exchange(struct traffic *t, int turn)
{
    MPI_Request requests[2];
    MPI_Isend(out(t, turn), t->bytes, MPI_BYTE, next(), TAG, t->comm, &requests[0]);
    MPI_Isend(out(t, turn) + t->bytes, t->bytes, MPI_BYTE, before(), TAG, t->comm, &requests[1]);
    MPI_Recv(in(t, turn), t->bytes, MPI_BYTE, before(), MPI_ANY_TAG, t->comm, MPI_STATUS_IGNORE);
    MPI_Recv(in(t, turn), t->bytes, MPI_BYTE, next(), MPI_ANY_TAG, t->comm, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static bool from_next(struct traffic *t, int turn)
{
    return holds(in(t, turn), t->bytes, stamp(next(), 1));
}

/* ---- collectives ---- */

static void barrier(struct traffic *t, int turn)
{
    (void)turn;
    MPI_Barrier(t->comm);
}

static void bcast(struct traffic *t, int turn)
{
    MPI_Bcast(my_rank == 0 ? out(t, turn) : in(t, turn), t->bytes, MPI_BYTE, 0, t->comm);
}

static bool from_root(struct traffic *t, int turn)
{
    return my_rank == 0 || holds(in(t, turn), t->bytes, stamp(0, 0));
}

static void reduce(struct traffic *t, int turn)
{
    MPI_Reduce(out(t, turn), in(t, turn), t->bytes / FLOAT_BYTES, MPI_FLOAT, MPI_SUM, 0, t->comm);
}

static void allreduce(struct traffic *t, int turn)
{
    MPI_Allreduce(out(t, turn), in(t, turn), t->bytes / FLOAT_BYTES, MPI_FLOAT, MPI_SUM, t->comm);
}

static bool sums(struct traffic *t, int turn)
{
    return holds_sums(in(t, turn), t->bytes / FLOAT_BYTES);
}

static bool sums_at_root(struct traffic *t, int turn)
{
    return my_rank != 0 || sums(t, turn);
}

/* Counts and places of a block for each rank. */
struct blocks {
    int *counts, *places;
};

/* The arrays live as long as the program, and are written anew where the size changes. */
static struct blocks equal_blocks(int bytes)
{
    static struct blocks b;
    static int written = -1;
    if (!b.counts) {
        b.counts = pages((size_t)rank_count * sizeof *b.counts);
        b.places = pages((size_t)rank_count * sizeof *b.places);
    }
    if (written != bytes)
        for (int rank = 0; rank < rank_count; rank++) {
            b.counts[rank] = bytes;
            b.places[rank] = rank * bytes;
        }
    written = bytes;
    return b;
}

/* Elements of a vector that a rank keeps of it: those at the front one more where they do not go evenly. */
static int share(int elements, int rank)
{
    return elements / rank_count + (rank < elements % rank_count);
}

/* Every rank receives its share of the sums. */
static void reduce_scatter(struct traffic *t, int turn)
{
    static int *counts, written = -1;
    int elements = t->bytes / FLOAT_BYTES;
    if (!counts)
        counts = pages((size_t)rank_count * sizeof *counts);
    if (written != elements)
        for (int rank = 0; rank < rank_count; rank++)
            counts[rank] = share(elements, rank);
    written = elements;
    MPI_Reduce_scatter(out(t, turn), in(t, turn), counts, MPI_FLOAT, MPI_SUM, t->comm);
}

static bool share_of_sums(struct traffic *t, int turn)
{
    return holds_sums(in(t, turn), share(t->bytes / FLOAT_BYTES, my_rank));
}

static void allgather(struct traffic *t, int turn)
{
    MPI_Allgather(out(t, turn), t->bytes, MPI_BYTE, in(t, turn), t->bytes, MPI_BYTE, t->comm);
}

static void allgatherv(struct traffic *t, int turn)
{
    struct blocks b = equal_blocks(t->bytes);
    MPI_Allgatherv(out(t, turn), t->bytes, MPI_BYTE, in(t, turn), b.counts, b.places, MPI_BYTE, t->comm);
}

static void gather(struct traffic *t, int turn)
{
    MPI_Gather(out(t, turn), t->bytes, MPI_BYTE, in(t, turn), t->bytes, MPI_BYTE, 0, t->comm);
}

static void gatherv(struct traffic *t, int turn)
{
    struct blocks b = equal_blocks(t->bytes);
    MPI_Gatherv(out(t, turn), t->bytes, MPI_BYTE, in(t, turn), b.counts, b.places, MPI_BYTE, 0, t->comm);
}

static void scatter(struct traffic *t, int turn)
{
    MPI_Scatter(out(t, turn), t->bytes, MPI_BYTE, in(t, turn), t->bytes, MPI_BYTE, 0, t->comm);
}

static void scatterv(struct traffic *t, int turn)
{
    struct blocks b = equal_blocks(t->bytes);
    MPI_Scatterv(out(t, turn), b.counts, b.places, MPI_BYTE, in(t, turn), t->bytes, MPI_BYTE, 0, t->comm);
}

static bool own_from_root(struct traffic *t, int turn)
{
    return holds(in(t, turn), t->bytes, stamp(0, my_rank));
}

static void alltoall(struct traffic *t, int turn)
{
    MPI_Alltoall(out(t, turn), t->bytes, MPI_BYTE, in(t, turn), t->bytes, MPI_BYTE, t->comm);
}

static void alltoallv(struct traffic *t, int turn)
{
    struct blocks b = equal_blocks(t->bytes);
    MPI_Alltoallv(out(t, turn), b.counts, b.places, MPI_BYTE, in(t, turn), b.counts, b.places, MPI_BYTE, t->comm);
}

static bool block_of_each(struct traffic *t, int turn, int to)
{
    for (int from = 0; from < rank_count; from++)
        if (!holds(in(t, turn) + (size_t)from * (size_t)t->bytes, t->bytes, stamp(from, to)))
            return false;
    return true;
}

static bool gathered(struct traffic *t, int turn)
{
    return block_of_each(t, turn, 0);
}

static bool gathered_at_root(struct traffic *t, int turn)
{
    return my_rank != 0 || gathered(t, turn);
}

static bool own_of_each(struct traffic *t, int turn)
{
    return block_of_each(t, turn, my_rank);
}

/* ---- all of them ---- */

struct pattern {
    const char *name;
    void (*call)(struct traffic *, int turn);
    bool (*right)(struct traffic *, int turn);
    int parts;     /* of a call, one of which is the figure: legs of a round trip, messages of a window */
    bool alone;    /* each call is timed alone, and all ranks meet before the next */
    bool blocks;   /* a buffer holds a block for each rank */
    bool floats;   /* the data are floats, which are added */
    bool sizeless; /* measured once, at 0 bytes */
};

static const struct pattern patterns[] = {
    {.name = "PingPong", .call = pingpong, .right = from_partner, .parts = 2},
    {.name = "PingPing", .call = pingping, .right = from_partner, .parts = 1},
    {.name = "Uniband", .call = uniband, .right = last_one_way, .parts = WINDOW},
    {.name = "Biband", .call = biband, .right = last_of_window, .parts = WINDOW},
    {.name = "Sendrecv", .call = sendrecv, .right = from_before, .parts = 1},
    {.name = "Exchange", .call = exchange, .right = from_next, .parts = 1, .blocks = true},
    {.name = "Barrier", .call = barrier, .right = anything, .parts = 1, .sizeless = true},
    {.name = "Bcast", .call = bcast, .right = from_root, .parts = 1, .alone = true},
    {.name = "Reduce", .call = reduce, .right = sums_at_root, .parts = 1, .alone = true, .floats = true},
    {.name = "Reduce_scatter", .call = reduce_scatter, .right = share_of_sums, .parts = 1, .alone = true, .floats = true},
    {.name = "Allreduce", .call = allreduce, .right = sums, .parts = 1, .alone = true, .floats = true},
    {.name = "Allgather", .call = allgather, .right = gathered, .parts = 1, .alone = true, .blocks = true},
    {.name = "Allgatherv", .call = allgatherv, .right = gathered, .parts = 1, .alone = true, .blocks = true},
    {.name = "Gather", .call = gather, .right = gathered_at_root, .parts = 1, .alone = true, .blocks = true},
    {.name = "Gatherv", .call = gatherv, .right = gathered_at_root, .parts = 1, .alone = true, .blocks = true},
    {.name = "Scatter", .call = scatter, .right = own_from_root, .parts = 1, .alone = true, .blocks = true},
    {.name = "Scatterv", .call = scatterv, .right = own_from_root, .parts = 1, .alone = true, .blocks = true},
    {.name = "Alltoall", .call = alltoall, .right = own_of_each, .parts = 1, .alone = true, .blocks = true},
    {.name = "Alltoallv", .call = alltoallv, .right = own_of_each, .parts = 1, .alone = true, .blocks = true},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns };
#endif
