/* Every collective operation in its blocking, nonblocking and persistent form, int and large count, with contents
 * computed apart from MPI: for intra- and for inter-communicators, on which data come from the other group
 * (MPI-5.0 §6.2.3). */
#ifndef WEFT_TESTS_EVERY_FORM_H
#define WEFT_TESTS_EVERY_FORM_H

#include "check.h"

enum { STARTS = 2 };

/* A communicator as one process sees it. Each process of two groups has an identity of its own. */
static struct {
    MPI_Comm comm;
    int inter, me, size, others;
    int own_base, their_base;
    /* Integers in a block. */
    int length;
    /* The root's group, by its base, and rank. */
    int root_base, root;
} at;

static int round_number;
static int *out, *in;
static int *out_counts, *in_counts, *out_places, *in_places, *out_bytes, *in_bytes;
static MPI_Datatype *out_types, *in_types, spaced;

static int my_id(void) { return at.own_base + at.me; }
static int their_id(int rank) { return at.their_base + rank; }
static int is_root(void) { return at.root_base == at.own_base && at.root == at.me; }
static int is_leaf(void) { return !at.inter || at.root_base != at.own_base; }

/* The root argument: MPI-5.0 §6.2.3. */
static int root_argument(void)
{
    if (!at.inter || is_leaf())
        return at.root;
    return is_root() ? MPI_ROOT : MPI_PROC_NULL;
}

/* What `from` has for `to`; no result of an earlier call passes for it. */
static int value(int from, int to, int index) { return ((round_number * 131 + from) * 131 + to) * 131 + index; }

/* How long a message is in the forms with lengths. */
static int length_of(int from, int to) { return at.length == 0 ? 0 : (3 * from + 5 * to) % (at.length + 1); }

static void check_block(const int *block, int from, int to, int length, const char *what)
{
    for (int i = 0; i < length; i++)
        CHECK(block[i] == value(from, to, i), what, "rank %d of %d: from %d to %d, [%d] is %d, not %d", at.me, at.size,
              from, to, i, block[i], value(from, to, i));
}

static void check_untouched(const int *from, long count, const char *what)
{
    for (long i = 0; i < count; i++)
        CHECK(from[i] == -1, what, "[%ld] was written", i);
}

/* Before each call: new data to send in blocks of `length`, and nothing received. */
static void fill(void)
{
    round_number++;
    for (int to = 0; to < at.others; to++)
        for (int i = 0; i < at.length; i++)
            out[to * at.length + i] = value(my_id(), their_id(to), i);
    for (long i = 0; i < 2L * at.others * (at.length + 1); i++)
        in[i] = -1;
}

/* `verify` is given the function's name. */
#define IN_EACH_FORM(blocking, nonblocking, persistent, prepare, verify, ...) \
    do { \
        MPI_Request request_; \
        MPI_Status status_; \
        prepare(); \
        blocking(__VA_ARGS__); \
        verify(#blocking); \
        prepare(); \
        nonblocking(__VA_ARGS__, &request_); \
        MPI_Wait(&request_, &status_); \
        CHECK(request_ == MPI_REQUEST_NULL && status_.MPI_ERROR == MPI_SUCCESS, "MPI-5.0 §6.12"); \
        verify(#nonblocking); \
        prepare(); \
        persistent(__VA_ARGS__, MPI_INFO_NULL, &request_); \
        for (int start_ = 0; start_ < STARTS; start_++) { \
            prepare(); \
            MPI_Start(&request_); \
            MPI_Wait(&request_, &status_); \
            CHECK(request_ != MPI_REQUEST_NULL, "MPI-5.0 §6.13"); \
            verify(#persistent); \
        } \
        MPI_Request_free(&request_); \
        CHECK(request_ == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3"); \
    } while (0)

/* Both forms of count, for functions without arrays of counts. */
#define IN_EVERY_FORM(Name, lower, prepare, verify, ...) \
    do { \
        IN_EACH_FORM(MPI_##Name, MPI_I##lower, MPI_##Name##_init, prepare, verify, __VA_ARGS__); \
        IN_EACH_FORM(MPI_##Name##_c, MPI_I##lower##_c, MPI_##Name##_init_c, prepare, verify, __VA_ARGS__); \
    } while (0)

static void fill_bcast(void)
{
    fill();
    for (int i = 0; is_root() && i < at.length; i++)
        in[i] = value(my_id(), 0, i);
}

static void verify_bcast(const char *what)
{
    if (is_root() || is_leaf())
        check_block(in, at.root_base + at.root, 0, at.length, what);
    else
        check_untouched(in, at.length, what);
}

static void verify_gather(const char *what)
{
    for (int from = 0; is_root() && from < at.others; from++)
        check_block(in + from * at.length, their_id(from), my_id(), at.length, what);
    if (!is_root())
        check_untouched(in, at.length, what);
}

static void verify_gatherv(const char *what)
{
    for (int from = 0; is_root() && from < at.others; from++)
        check_block(in + in_places[from], their_id(from), my_id(), in_counts[from], what);
}

static void verify_scatter(const char *what)
{
    if (is_leaf())
        check_block(in, at.root_base + at.root, my_id(), at.length, what);
    else
        check_untouched(in, at.length, what);
}

static void verify_scatterv(const char *what)
{
    int from = at.root_base + at.root, length = length_of(from, my_id());
    if (is_leaf())
        check_block(in, from, my_id(), length, what);
    check_untouched(in + (is_leaf() ? length : 0), at.length - (is_leaf() ? length : 0), what);
}

/* Everyone sends the same block to all: that for its rank 0 of the others. */
static void verify_allgather(const char *what)
{
    for (int from = 0; from < at.others; from++)
        check_block(in + from * at.length, their_id(from), at.own_base, at.length, what);
}

static void verify_allgatherv(const char *what)
{
    for (int from = 0; from < at.others; from++)
        check_block(in + in_places[from], their_id(from), at.own_base, in_counts[from], what);
}

static void verify_alltoall(const char *what)
{
    for (int from = 0; from < at.others; from++)
        check_block(in + from * at.length, their_id(from), my_id(), at.length, what);
}

static void verify_alltoallv(const char *what)
{
    for (int from = 0; from < at.others; from++)
        check_block(in + in_places[from], their_id(from), my_id(), in_counts[from], what);
}

/* Blocks received with a space after each integer. */
static void verify_alltoallw(const char *what)
{
    for (int from = 0; from < at.others; from++)
        for (int i = 0; i < in_counts[from]; i++) {
            const int *place = in + in_bytes[from] / (int)sizeof(int) + 2 * i;
            CHECK(place[0] == value(their_id(from), my_id(), i) && place[1] == -1, what);
        }
}

/* Operands, small enough that no sum overflows. */
static int operand(int id, int index) { return (round_number * 31 + id * 17 + index * 7) % 1000; }

static void fill_operands(void)
{
    fill();
    for (int i = 0; i < at.others * at.length || i < at.size * at.length; i++)
        out[i] = operand(my_id(), i);
}

static int sum_of(int base, int first, int last, int index)
{
    int sum = 0;
    for (int rank = first; rank <= last; rank++)
        sum += operand(base + rank, index);
    return sum;
}

static void check_sums(int base, int first, int last, int start, int length, const char *what)
{
    for (int i = 0; i < length; i++)
        CHECK(in[i] == sum_of(base, first, last, start + i), what, "rank %d of %d: [%d]", at.me, at.size, i);
}

static void verify_reduce(const char *what)
{
    if (is_root())
        check_sums(at.their_base, 0, at.others - 1, 0, at.length, what);
    else
        check_untouched(in, at.length, what);
}

static void verify_allreduce(const char *what) { check_sums(at.their_base, 0, at.others - 1, 0, at.length, what); }

static void verify_scan(const char *what) { check_sums(at.own_base, 0, at.me, 0, at.length, what); }

static void verify_exscan(const char *what)
{
    if (at.me > 0)
        check_sums(at.own_base, 0, at.me - 1, 0, at.length, what);
    else
        check_untouched(in, at.length, what);
}

/* Both groups' shares have one sum: size times others times length. */
static int block_share(void) { return at.others * at.length; }

static void verify_block_shares(const char *what)
{
    int share = at.inter ? block_share() : at.length;
    check_sums(at.their_base, 0, at.others - 1, at.me * share, share, what);
}

/* Rank 0 takes half of what rank 1 would have. */
static int share_of(int rank)
{
    int share = at.inter ? block_share() : at.length, half = at.size > 1 ? share / 2 : 0;
    return rank == 0 ? share - half : rank == 1 ? share + half : share;
}

static void verify_shares(const char *what)
{
    int start = 0;
    for (int rank = 0; rank < at.me; rank++)
        start += share_of(rank);
    check_sums(at.their_base, 0, at.others - 1, start, share_of(at.me), what);
}

static void fill_shared(void)
{
    fill();
    long count = at.inter ? (long)at.size * at.others * at.length : (long)at.size * at.length;
    for (long i = 0; i < count; i++)
        out[i] = operand(my_id(), (int)i);
}

/* The arrays of the forms with lengths: blocks to send lie in order, those received in reverse. */
static void set_arrays(void)
{
    for (int other = 0; other < at.others; other++) {
        out_counts[other] = length_of(my_id(), their_id(other));
        in_counts[other] = length_of(their_id(other), my_id());
        out_places[other] = other * at.length;
        in_places[other] = (at.others - 1 - other) * at.length;
        out_bytes[other] = out_places[other] * (int)sizeof(int);
        in_bytes[other] = 2 * in_places[other] * (int)sizeof(int);
        out_types[other] = MPI_INT;
        in_types[other] = spaced;
    }
}

static void rooted(void)
{
    MPI_Comm comm = at.comm;
    int length = at.length, root = root_argument();
    int from = at.root_base + at.root;
    IN_EVERY_FORM(Bcast, bcast, fill_bcast, verify_bcast, in, length, MPI_INT, root, comm);
    const int *for_root = out + (is_leaf() ? at.root * length : 0);
    IN_EVERY_FORM(Gather, gather, fill, verify_gather, for_root, length, MPI_INT, in, length, MPI_INT, root, comm);
    IN_EACH_FORM(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, fill, verify_gatherv, for_root,
                 is_leaf() ? length_of(my_id(), from) : 0, MPI_INT, in, in_counts, in_places, MPI_INT, root, comm);
    IN_EVERY_FORM(Scatter, scatter, fill, verify_scatter, out, length, MPI_INT, in, length, MPI_INT, root, comm);
    IN_EACH_FORM(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, fill, verify_scatterv, out, out_counts, out_places,
                 MPI_INT, in, is_leaf() ? length_of(from, my_id()) : 0, MPI_INT, root, comm);
    IN_EVERY_FORM(Reduce, reduce, fill_operands, verify_reduce, out, in, length, MPI_INT, MPI_SUM, root, comm);
}


static void for_all(void)
{
    MPI_Comm comm = at.comm;
    int length = at.length, share = at.inter ? block_share() : at.length;
    MPI_Request barrier;
    MPI_Barrier(comm);
    MPI_Ibarrier(comm, &barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &barrier);
    for (int start = 0; start < STARTS; start++) {
        MPI_Start(&barrier);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&barrier);
    IN_EVERY_FORM(Allgather, allgather, fill, verify_allgather, out, length, MPI_INT, in, length, MPI_INT, comm);
    IN_EVERY_FORM(Alltoall, alltoall, fill, verify_alltoall, out, length, MPI_INT, in, length, MPI_INT, comm);
    IN_EACH_FORM(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, fill, verify_alltoallv, out, out_counts, out_places,
                 MPI_INT, in, in_counts, in_places, MPI_INT, comm);
    IN_EACH_FORM(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, fill, verify_alltoallw, out, out_counts, out_bytes,
                 out_types, in, in_counts, in_bytes, in_types, comm);
    /* To all alike, so the length is the sender's alone. */
    for (int from = 0; from < at.others; from++)
        in_counts[from] = length_of(their_id(from), at.own_base);
    IN_EACH_FORM(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, fill, verify_allgatherv, out,
                 length_of(my_id(), at.their_base), MPI_INT, in, in_counts, in_places, MPI_INT, comm);
    IN_EVERY_FORM(Allreduce, allreduce, fill_operands, verify_allreduce, out, in, length, MPI_INT, MPI_SUM, comm);
    IN_EVERY_FORM(Reduce_scatter_block, reduce_scatter_block, fill_shared, verify_block_shares, out, in, share, MPI_INT,
                  MPI_SUM, comm);
    int *shares = need((size_t)at.size * sizeof(int));
    for (int rank = 0; rank < at.size; rank++)
        shares[rank] = share_of(rank);
    IN_EACH_FORM(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, fill_shared, verify_shares, out, in,
                 shares, MPI_INT, MPI_SUM, comm);
    free(shares);
    if (at.inter)
        return;
    IN_EVERY_FORM(Scan, scan, fill_operands, verify_scan, out, in, length, MPI_INT, MPI_SUM, comm);
    IN_EVERY_FORM(Exscan, exscan, fill_operands, verify_exscan, out, in, length, MPI_INT, MPI_SUM, comm);
}

static void every_operation(MPI_Comm comm, int length, int high)
{
    at.comm = comm;
    at.length = length;
    MPI_Comm_test_inter(comm, &at.inter);
    MPI_Comm_rank(comm, &at.me);
    MPI_Comm_size(comm, &at.size);
    at.others = at.size;
    at.own_base = at.their_base = 0;
    if (at.inter) {
        MPI_Comm_remote_size(comm, &at.others);
        at.own_base = high ? 100 : 0;
        at.their_base = 100 - at.own_base;
    }
    int most = at.size > at.others ? at.size : at.others;
    size_t ints = 2 * ((size_t)most + 1) * ((size_t)most + 1) * ((size_t)length + 2);
    out = need(ints * sizeof(int));
    in = need(ints * sizeof(int));
    int **arrays[] = { &out_counts, &in_counts, &out_places, &in_places, &out_bytes, &in_bytes };
    for (int i = 0; i < 6; i++)
        *arrays[i] = need((size_t)at.others * sizeof(int));
    out_types = need((size_t)at.others * sizeof(MPI_Datatype));
    in_types = need((size_t)at.others * sizeof(MPI_Datatype));
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    for (int side = 0; side < (at.inter ? 2 : 1); side++) {
        at.root_base = 100 * side;
        int roots = at.root_base == at.own_base ? at.size : at.others;
        for (at.root = 0; at.root < roots; at.root++) {
            set_arrays();
            rooted();
        }
    }
    for_all();
    MPI_Type_free(&spaced);
    for (int i = 0; i < 6; i++)
        free(*arrays[i]);
    free(out_types);
    free(in_types);
    free(out);
    free(in);
}

#endif
