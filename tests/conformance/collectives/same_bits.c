/* Reductions give the same bits by every call and whatever algorithm runs: operands combine as a balanced tree of the ranks, scans as
 * the trees before a rank (docs/reductions.md). With sums that round differently in every other order, and an operation that is not associative. */
#include "hosts.h"

enum { LONGEST = 40000, MOST_RANKS = 64 };

struct call {
    MPI_Comm comm;
    MPI_Op op;
    int rank, size, count;
    int host_of[MOST_RANKS], hosts;
    int follow; /* whether each host's ranks do */
};

static double *operands, *out, *wanted;
static MPI_Op ordered, commuting;

/* 0.1 to some hundred, of either sign. */
static double operand(int rank, int index)
{
    unsigned mixed = (unsigned)(rank + 1) * 2654435761u ^ (unsigned)(index + 7) * 40503u;
    double value = 0.1 + (mixed % 1000003) / 3331.0;
    return mixed >> 9 & 1 ? -value : value;
}

static void skewed(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((double *)inout)[i] = ((double *)in)[i] * 0.75 + ((double *)inout)[i] / 3;
}

static double combined(const struct call *call, double lower, double higher)
{
    if (call->op == MPI_SUM)
        return lower + higher;
    int one = 1;
    MPI_Datatype type = MPI_DOUBLE;
    skewed(&lower, &higher, &one, &type);
    return higher;
}

/* Leaves from `first` on, as many as a power of two. */
static double tree(const struct call *call, const double *leaves, int count)
{
    if (count == 1)
        return leaves[0];
    return combined(call, tree(call, leaves, count / 2), tree(call, leaves + count / 2, count / 2));
}

static int power_of_two_in(int count)
{
    int power = 1;
    while (2 * power <= count)
        power *= 2;
    return power;
}

/* Operands of so many ranks, or hosts: pairs of the first, as many as there are too many for a power of two, then halves. */
static double all(const struct call *call, const double *column, int count)
{
    int leaves = power_of_two_in(count), pairs = count - leaves;
    double folded[MOST_RANKS];
    for (int leaf = 0; leaf < leaves; leaf++)
        folded[leaf] = leaf < pairs ? combined(call, column[2 * leaf], column[2 * leaf + 1]) : column[leaf + pairs];
    return tree(call, folded, leaves);
}

/* What comes before a rank: trees of powers of two, the greatest first; `behind` is what combines with the last of them, if anything does. */
static double before(const struct call *call, const double *column, int count, const double *behind)
{
    if (count == 0)
        return *behind;
    int last = count & -count;
    double total = tree(call, column + count - last, last);
    if (behind != NULL)
        total = combined(call, total, *behind);
    return count == last ? total : before(call, column, count - last, &total);
}

/* The operands of a host's ranks, in order. */
static int of_host(const struct call *call, const double *column, int host, double *operands_there)
{
    int count = 0;
    for (int r = 0; r < call->size; r++)
        if (call->host_of[r] == host)
            operands_there[count++] = column[r];
    return count;
}

static double all_by_hosts(const struct call *call, const double *column)
{
    double of_hosts[MOST_RANKS], there[MOST_RANKS];
    for (int host = 0; host < call->hosts; host++) {
        int count = of_host(call, column, host, there);
        of_hosts[host] = all(call, there, count);
    }
    return all(call, of_hosts, call->hosts);
}

/* The prefix of a host's last rank is the host's. */
static double prefix_by_hosts(const struct call *call, const double *column, int exclusive)
{
    double of_hosts[MOST_RANKS], there[MOST_RANKS];
    int own = call->host_of[call->rank], place = 0;
    for (int host = 0; host < own; host++) {
        int count = of_host(call, column, host, there);
        if (exclusive && count > 1) {
            double rest = before(call, there, count - 1, NULL);
            of_hosts[host] = combined(call, rest, there[count - 1]);
        } else {
            of_hosts[host] = before(call, there, count - 1, &there[count - 1]);
        }
        place += count;
    }
    of_host(call, column, own, there);
    place = call->rank - place;
    if (exclusive && place == 0)
        return before(call, of_hosts, own, NULL);
    double within = before(call, there, place, exclusive ? NULL : &there[place]);
    return own == 0 ? within : combined(call, before(call, of_hosts, own, NULL), within);
}

/* Which hosts the ranks are on, numbered as their first ranks follow. */
static void find_hosts(struct call *call)
{
    int *first = first_on_host(), names[MOST_RANKS];
    MPI_Allgather(&first[rank_of_world], 1, MPI_INT, names, 1, MPI_INT, call->comm);
    free(first);
    call->hosts = 0;
    call->follow = 1;
    for (int r = 0; r < call->size; r++) {
        int same = 0;
        while (names[same] != names[r])
            same++;
        call->host_of[r] = same == r ? call->hosts++ : call->host_of[same];
        call->follow = call->follow && (r == 0 || call->host_of[r] >= call->host_of[r - 1]);
    }
}

enum expectation { REDUCED, SCATTERED, INCLUSIVE, EXCLUSIVE };

static void expect(const struct call *call, enum expectation expectation)
{
    double column[MOST_RANKS];
    int by_hosts = call->follow || (expectation == REDUCED && call->op != ordered);
    for (int i = 0; i < call->count; i++) {
        for (int r = 0; r < call->size; r++)
            column[r] = operand(r, i);
        int is_prefix = expectation == INCLUSIVE || expectation == EXCLUSIVE, exclusive = expectation == EXCLUSIVE;
        if (!is_prefix)
            wanted[i] = by_hosts ? all_by_hosts(call, column) : all(call, column, call->size);
        else if (call->rank > 0 && by_hosts)
            wanted[i] = prefix_by_hosts(call, column, exclusive);
        else
            wanted[i] = call->rank == 0 ? column[0] : before(call, column, call->rank, exclusive ? NULL : &column[call->rank]);
    }
}

static const void *prepare(const struct call *call, int in_place)
{
    for (int i = 0; i < call->count; i++) {
        operands[i] = operand(call->rank, i);
        out[i] = in_place ? operands[i] : -1;
    }
    return in_place ? MPI_IN_PLACE : operands;
}

static void compare(const double *from, int count, const char *what, const struct call *call)
{
    CHECK(memcmp(out, from, (size_t)count * sizeof(double)) == 0, "MPI-5.0 §6.9.1: advice to implementors",
          "%s of %d has other bits", what, call->count);
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static void finish(enum form form, MPI_Request *request)
{
    if (form == PERSISTENT)
        MPI_Start(request);
    if (form != BLOCKING)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(request);
}

/* CALL(Reduce, in, out, count, type, op, root, comm) is MPI_Reduce, MPI_Ireduce or MPI_Reduce_init. */
#define CALL(form, blocking, nonblocking, persistent, comm, ...) \
    do { \
        MPI_Request request; \
        if ((form) == BLOCKING) \
            blocking(__VA_ARGS__, comm); \
        else if ((form) == NONBLOCKING) \
            nonblocking(__VA_ARGS__, comm, &request); \
        else \
            persistent(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
        finish(form, &request); \
    } while (0)

static void reductions(const struct call *call, enum form form, int in_place)
{
    expect(call, REDUCED);
    const void *in = prepare(call, in_place);
    CALL(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, call->comm, in, out, call->count, MPI_DOUBLE, call->op);
    compare(wanted, call->count, "allreduce", call);

    for (int root = 0; root < call->size; root++) {
        in = prepare(call, in_place && call->rank == root);
        CALL(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, call->comm, in, out, call->count, MPI_DOUBLE, call->op, root);
        if (call->rank == root)
            compare(wanted, call->count, "reduce", call);
    }

    expect(call, SCATTERED);
    int share = call->count / call->size;
    in = prepare(call, in_place);
    CALL(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, call->comm, in, out,
         share, MPI_DOUBLE, call->op);
    compare(wanted + call->rank * share, share, "reduce_scatter_block", call);

    int counts[MOST_RANKS], start = call->rank * share;
    for (int r = 0; r < call->size; r++)
        counts[r] = share;
    counts[call->size - 1] += call->count - share * call->size;
    in = prepare(call, in_place);
    CALL(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, call->comm, in, out, counts, MPI_DOUBLE, call->op);
    compare(wanted + start, counts[call->rank], "reduce_scatter", call);
}

static void scans(const struct call *call, enum form form, int in_place)
{
    expect(call, INCLUSIVE);
    const void *in = prepare(call, in_place);
    CALL(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, call->comm, in, out, call->count, MPI_DOUBLE, call->op);
    compare(wanted, call->count, "scan", call);
    expect(call, EXCLUSIVE);
    in = prepare(call, in_place);
    CALL(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, call->comm, in, out, call->count, MPI_DOUBLE, call->op);
    if (call->rank > 0)
        compare(wanted, call->count, "exscan", call);
}

/* The ranks of a communicator whatever processes they are. */
static void on(MPI_Comm comm, MPI_Op op, int count)
{
    struct call call = {.comm = comm, .op = op, .count = count};
    MPI_Comm_rank(comm, &call.rank);
    MPI_Comm_size(comm, &call.size);
    find_hosts(&call);
    for (enum form form = BLOCKING; form < FORMS; form++)
        for (int in_place = 0; in_place < 2; in_place++) {
            reductions(&call, form, in_place);
            scans(&call, form, in_place);
        }
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 7, 130, 1500, LONGEST};
    check_start(&argc, &argv, "same_bits");
    double **buffers[] = {&operands, &out, &wanted};
    for (int i = 0; i < 3; i++)
        *buffers[i] = need(LONGEST * sizeof(double));
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_world, &reversed);
    MPI_Op_create(skewed, 0, &ordered);
    MPI_Op_create(skewed, 1, &commuting);
    for (int i = 0; i < (int)(sizeof counts / sizeof *counts); i++) {
        on(MPI_COMM_WORLD, MPI_SUM, counts[i]);
        on(MPI_COMM_WORLD, ordered, counts[i]);
        on(MPI_COMM_WORLD, commuting, counts[i]);
        on(reversed, MPI_SUM, counts[i]);
    }
    MPI_Op_free(&ordered);
    MPI_Op_free(&commuting);
    MPI_Comm_free(&reversed);
    for (int i = 0; i < 3; i++)
        free(*buffers[i]);
    return check_finish();
}
