/* collective-sizes: time of each data-moving collective by bytes a rank, as osu_bcast and its like measure it, with the
 * contents checked. The time is that of rank 0 for a whole batch: roots rotate, so that no rank runs ahead of the others. */
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

int main(int argc, char **argv)
{
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
    static struct sampler s;
    struct options o = read_options(argc, argv, "sizes", "8,64,512,4K,32K,256K,1M", 0.05);
    start(&argc, &argv, "collective-sizes", MPI_THREAD_SINGLE, 0);
    for (int p = 0; p < o.count; p++) {
        int bytes = (int)o.points[p];
        if (bytes % 4)
            fail("collective-sizes: sizes are multiples of 4 bytes, not %d", bytes);
        size_t room = (size_t)bytes * (size_t)rank_count;
        unsigned char *send = pages(room), *receive = pages(room);
        for (int to = 0; to < rank_count; to++)
            fill(send + (size_t)to * (size_t)bytes, bytes, word(my_rank, to));
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            struct call c = calls[i];
            c.send = send;
            c.receive = receive;
            c.bytes = bytes;
            measure(repeat, &c, o.seconds, &s);
            if (my_rank == 0)
                print_time("collective-sizes", c.name, bytes, "us", &s, 1e6);
        }
        free(send);
        free(receive);
    }
    MPI_Finalize();
    return 0;
}
