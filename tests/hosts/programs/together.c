/* together: every collective against what each rank computes by itself, blocking, nonblocking and persistent, on the world and on parts of it
 * whose ranks lie across hosts. */
#include "check.h"

static MPI_Comm comm;
static int me, n;

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* A call in one of its three forms; a persistent one is started twice. */
static void complete(int form, MPI_Request *request)
{
    if (form == BLOCKING)
        return;
    if (form == NONBLOCKING) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    for (int times = 0; times < 2; times++) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(request);
}

#define CALL(form, name, ...)                                                                                                              \
    do {                                                                                                                                   \
        MPI_Request request;                                                                                                               \
        if (form == BLOCKING)                                                                                                              \
            MPI_##name(__VA_ARGS__, comm);                                                                                                 \
        else if (form == NONBLOCKING)                                                                                                      \
            MPI_I##name##_(__VA_ARGS__, comm, &request);                                                                                   \
        else                                                                                                                               \
            MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request);                                                                 \
        complete(form, &request);                                                                                                          \
    } while (0)
/* Nonblocking names begin with a small letter. */
#define MPI_IBcast_ MPI_Ibcast
#define MPI_IReduce_ MPI_Ireduce
#define MPI_IAllreduce_ MPI_Iallreduce
#define MPI_IGather_ MPI_Igather
#define MPI_IGatherv_ MPI_Igatherv
#define MPI_IScatter_ MPI_Iscatter
#define MPI_IScatterv_ MPI_Iscatterv
#define MPI_IAllgather_ MPI_Iallgather
#define MPI_IAllgatherv_ MPI_Iallgatherv
#define MPI_IScan_ MPI_Iscan
#define MPI_IExscan_ MPI_Iexscan
#define MPI_IReduce_scatter_ MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block

static long value(int owner, int i) { return (long)owner * 1000003 + (long)i * 17 + 5; }

static long sum(int to, int i)
{
    long all = 0;
    for (int owner = 0; owner < to; owner++)
        all += value(owner, i);
    return all;
}

/* x -> a x + b, composed: associative, not commutative (MPI-5.0 §6.9.5). */
typedef struct { unsigned a, b; } Map;

static void compose(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    Map *first = left, *second = right;
    for (int i = 0; i < *count; i++) {
        Map both = {first[i].a * second[i].a, first[i].b * second[i].a + second[i].b};
        second[i] = both;
    }
}

static Map map_of(int owner, int i) { return (Map){2 * (unsigned)owner + 3, (unsigned)i + (unsigned)owner * 5}; }

static void user_operation(int form, int count)
{
    Map *out = memory((size_t)count * sizeof *out), *in = memory((size_t)count * sizeof *in);
    MPI_Datatype pair;
    MPI_Op operation;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &operation);
    for (int i = 0; i < count; i++)
        out[i] = map_of(me, i);
    CALL(form, Allreduce, out, in, count, pair, operation);
    for (int i = 0; i < count; i++) {
        Map all = map_of(0, i);
        for (int owner = 1; owner < n; owner++) {
            int one = 1;
            Map next = map_of(owner, i);
            compose(&all, &next, &one, NULL);
            all = next;
        }
        REQUIRE(in[i].a == all.a && in[i].b == all.b);
    }
    MPI_Op_free(&operation);
    MPI_Type_free(&pair);
    free(out), free(in);
}

static void rooted(int form, int root, int count)
{
    long *mine = memory((size_t)count * sizeof *mine), *all = memory((size_t)count * (size_t)n * sizeof *all);
    for (int i = 0; i < count; i++)
        mine[i] = value(me == root ? root : -1, i);
    CALL(form, Bcast, mine, count, MPI_LONG, root);
    for (int i = 0; i < count; i++)
        REQUIRE(mine[i] == value(root, i));
    for (int i = 0; i < count; i++)
        mine[i] = value(me, i), all[i] = -1;
    CALL(form, Reduce, mine, all, count, MPI_LONG, MPI_SUM, root);
    for (int i = 0; me == root && i < count; i++)
        REQUIRE(all[i] == sum(n, i));
    CALL(form, Gather, mine, count, MPI_LONG, all, count, MPI_LONG, root);
    for (int i = 0; me == root && i < count * n; i++)
        REQUIRE(all[i] == value(i / (count ? count : 1), count ? i % count : 0));
    for (int i = 0; i < count * n; i++)
        all[i] = value(i / count, i % count + 1);
    CALL(form, Scatter, all, count, MPI_LONG, mine, count, MPI_LONG, root);
    for (int i = 0; i < count; i++)
        REQUIRE(mine[i] == value(me, i + 1));
    free(mine), free(all);
}

/* Rank k has k mod 3 times `count` elements. */
static void uneven(int form, int root, int count)
{
    int *counts = memory(2 * (size_t)n * sizeof *counts), *at = counts + n, total = 0;
    for (int owner = 0; owner < n; owner++)
        counts[owner] = owner % 3 * count, at[owner] = total, total += counts[owner];
    long *mine = memory((size_t)counts[me] * sizeof *mine), *all = memory((size_t)total * sizeof *all);
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < counts[me]; i++)
            mine[i] = value(me, i);
        memset(all, 0, (size_t)total * sizeof *all);
        if (kind == 0)
            CALL(form, Gatherv, mine, counts[me], MPI_LONG, all, counts, at, MPI_LONG, root);
        else
            CALL(form, Allgatherv, mine, counts[me], MPI_LONG, all, counts, at, MPI_LONG);
        for (int owner = 0; (kind == 1 || me == root) && owner < n; owner++)
            for (int i = 0; i < counts[owner]; i++)
                REQUIRE(all[at[owner] + i] == value(owner, i));
    }
    for (int owner = 0; owner < n; owner++)
        for (int i = 0; i < counts[owner]; i++)
            all[at[owner] + i] = value(owner, i + 3);
    CALL(form, Scatterv, all, counts, at, MPI_LONG, mine, counts[me], MPI_LONG, root);
    for (int i = 0; i < counts[me]; i++)
        REQUIRE(mine[i] == value(me, i + 3));
    long *whole = memory((size_t)total * sizeof *whole);
    for (int i = 0; i < total; i++)
        whole[i] = value(me, i);
    CALL(form, Reduce_scatter, whole, mine, counts, MPI_LONG, MPI_SUM);
    for (int i = 0; i < counts[me]; i++)
        REQUIRE(mine[i] == sum(n, at[me] + i));
    free(mine), free(all), free(whole), free(counts);
}

static void for_all(int form, int count)
{
    long *mine = memory((size_t)count * sizeof *mine), *in = memory((size_t)count * sizeof *in);
    long *wide = memory((size_t)count * (size_t)n * sizeof *wide);
    double *real = memory((size_t)count * sizeof *real), *most = memory((size_t)count * sizeof *most);
    for (int i = 0; i < count; i++)
        mine[i] = value(me, i), real[i] = (double)((me * 31 + i * 7) % 101);
    CALL(form, Allreduce, mine, in, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count; i++)
        REQUIRE(in[i] == sum(n, i));
    CALL(form, Allreduce, real, most, count, MPI_DOUBLE, MPI_MAX);
    for (int i = 0; i < count; i++) {
        double expected = 0;
        for (int owner = 0; owner < n; owner++)
            expected = (owner * 31 + i * 7) % 101 > expected ? (owner * 31 + i * 7) % 101 : expected;
        REQUIRE(most[i] == expected);
    }
    CALL(form, Allgather, mine, count, MPI_LONG, wide, count, MPI_LONG);
    for (int i = 0; i < count * n; i++)
        REQUIRE(wide[i] == value(i / count, i % count));
    CALL(form, Scan, mine, in, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count; i++)
        REQUIRE(in[i] == sum(me + 1, i));
    CALL(form, Exscan, mine, in, count, MPI_LONG, MPI_SUM);
    for (int i = 0; me > 0 && i < count; i++)
        REQUIRE(in[i] == sum(me, i));
    for (int i = 0; i < count * n; i++)
        wide[i] = value(me, i);
    CALL(form, Reduce_scatter_block, wide, in, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count; i++)
        REQUIRE(in[i] == sum(n, me * count + i));
    free(mine), free(in), free(wide), free(real), free(most);
}

/* Nobody leaves a barrier before the last has come: the last to come says so before. */
static void barriers(void)
{
    for (int late = 0; late < n; late++) {
        int said = 0, heard = 0;
        MPI_Request request;
        if (me == late) {
            for (int peer = 0; peer < n; peer++)
                if (peer != me)
                    MPI_Send(&late, 1, MPI_INT, peer, 3, comm);
            said = 1;
        }
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (!said)
            MPI_Recv(&heard, 1, MPI_INT, late, 3, comm, MPI_STATUS_IGNORE);
        REQUIRE(said || heard == late);
        MPI_Barrier(comm);
    }
}

static void all_of(MPI_Comm which)
{
    comm = which;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    barriers();
    const int counts[] = {1, 2, 100, 1000, 8192, 50000};
    for (int form = 0; form < FORMS; form++)
        for (int i = 0; i < 6; i++) {
            for_all(form, counts[i]);
            rooted(form, i % n, counts[i]);
            rooted(form, n - 1, counts[i]);
            uneven(form, (i + 1) % n, counts[i]);
            user_operation(form, counts[i]);
        }
}

int main(int count, char **words)
{
    MPI_Comm part;
    begin(&count, &words);
    all_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    all_of(part);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part);
    all_of(part);
    MPI_Comm_free(&part);
    end("together");
    return 0;
}
