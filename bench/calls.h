/* The data-moving collectives, each with a check of what it gave, for the benchmarks that measure them by size. */
#ifndef WEFT_BENCH_CALLS_H
#define WEFT_BENCH_CALLS_H

#include "ranks.h"

struct call {
    const char *name;
    void (*start)(struct call *, int turn);
    bool (*right)(struct call *, int turn);
    unsigned char *send, *receive;
    int bytes;
};

/* What rank `from` sends to rank `to`, at every word. */
static int word(int from, int to)
{
    return from * 1009 + to * 31;
}

static void fill(unsigned char *block, int bytes, int value)
{
    for (int i = 0; i + 4 <= bytes; i += 4)
        memcpy(block + i, &value, 4);
}

/* The ends and the middle: looking at all would be measured. */
static bool holds(const unsigned char *block, int bytes, int value)
{
    int at[3] = {0, bytes / 8 * 4, bytes - 4};
    for (int i = 0; i < 3; i++)
        if (memcmp(block + at[i], &value, 4))
            return false;
    return true;
}

static int root_of(int turn)
{
    return turn % rank_count;
}

static void bcast(struct call *c, int turn)
{
    MPI_Bcast(my_rank == root_of(turn) ? c->send : c->receive, c->bytes, MPI_BYTE, root_of(turn), MPI_COMM_WORLD);
}

static bool bcast_right(struct call *c, int turn)
{
    return my_rank == root_of(turn) || holds(c->receive, c->bytes, word(root_of(turn), 0));
}

static void reduce(struct call *c, int turn)
{
    MPI_Reduce(c->send, c->receive, c->bytes / 4, MPI_INT, MPI_SUM, root_of(turn), MPI_COMM_WORLD);
}

static int sum(int to)
{
    int all = 0;
    for (int from = 0; from < rank_count; from++)
        all += word(from, to);
    return all;
}

static bool reduce_right(struct call *c, int turn)
{
    return my_rank != root_of(turn) || holds(c->receive, c->bytes, sum(0));
}

static void allreduce(struct call *c, int turn)
{
    (void)turn;
    MPI_Allreduce(c->send, c->receive, c->bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static bool allreduce_right(struct call *c, int turn)
{
    (void)turn;
    return holds(c->receive, c->bytes, sum(0));
}

static void gather(struct call *c, int turn)
{
    MPI_Gather(c->send, c->bytes, MPI_BYTE, c->receive, c->bytes, MPI_BYTE, root_of(turn), MPI_COMM_WORLD);
}

static bool all_blocks(struct call *c, int to)
{
    for (int from = 0; from < rank_count; from++)
        if (!holds(c->receive + (size_t)from * (size_t)c->bytes, c->bytes, word(from, to)))
            return false;
    return true;
}

static bool gather_right(struct call *c, int turn)
{
    return my_rank != root_of(turn) || all_blocks(c, 0);
}

static void scatter(struct call *c, int turn)
{
    MPI_Scatter(c->send, c->bytes, MPI_BYTE, c->receive, c->bytes, MPI_BYTE, root_of(turn), MPI_COMM_WORLD);
}

static bool scatter_right(struct call *c, int turn)
{
    return holds(c->receive, c->bytes, word(root_of(turn), my_rank));
}

static void allgather(struct call *c, int turn)
{
    (void)turn;
    MPI_Allgather(c->send, c->bytes, MPI_BYTE, c->receive, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static bool allgather_right(struct call *c, int turn)
{
    (void)turn;
    return all_blocks(c, 0);
}

static void alltoall(struct call *c, int turn)
{
    (void)turn;
    MPI_Alltoall(c->send, c->bytes, MPI_BYTE, c->receive, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static bool alltoall_right(struct call *c, int turn)
{
    (void)turn;
    return all_blocks(c, my_rank);
}

static void reduce_scatter(struct call *c, int turn)
{
    (void)turn;
    MPI_Reduce_scatter_block(c->send, c->receive, c->bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static bool reduce_scatter_right(struct call *c, int turn)
{
    (void)turn;
    return holds(c->receive, c->bytes, sum(my_rank));
}

static void repeat(void *state, long repetitions)
{
    struct call *c = state;
    for (long i = 0; i < repetitions; i++)
        c->start(c, (int)i);
    if (!c->right(c, (int)repetitions - 1))
        fail("%s: wrong data at %d bytes", c->name, c->bytes);
}

static const struct call calls[] = {
    {.name = "bcast", .start = bcast, .right = bcast_right},
    {.name = "reduce", .start = reduce, .right = reduce_right},
    {.name = "allreduce", .start = allreduce, .right = allreduce_right},
    {.name = "gather", .start = gather, .right = gather_right},
    {.name = "scatter", .start = scatter, .right = scatter_right},
    {.name = "allgather", .start = allgather, .right = allgather_right},
    {.name = "alltoall", .start = alltoall, .right = alltoall_right},
    {.name = "reduce-scatter", .start = reduce_scatter, .right = reduce_scatter_right},
};

enum { CALLS = sizeof calls / sizeof *calls };

/* Samples one of them. */
static inline void measure_call(const struct call *what, unsigned char *send, unsigned char *receive, int bytes,
                                double seconds, struct sampler *s)
{
    struct call c = *what;
    c.send = send;
    c.receive = receive;
    c.bytes = bytes;
    measure(repeat, &c, seconds, s);
}

/* Room for a block of every rank. */
static inline size_t call_room(int bytes)
{
    if (bytes < 4 || bytes % 4)
        fail("sizes are multiples of 4 bytes, not %d", bytes);
    return (size_t)bytes * (size_t)rank_count;
}

static inline unsigned char *call_input(int bytes)
{
    unsigned char *send = pages(call_room(bytes));
    for (int to = 0; to < rank_count; to++)
        fill(send + (size_t)to * (size_t)bytes, bytes, word(my_rank, to));
    return send;
}
#endif
