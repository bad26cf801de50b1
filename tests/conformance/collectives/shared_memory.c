/* Blocking collectives by each algorithm that shares memory, on communicators of many orders: lengths around those at which
 * what is posted moves from a line to a buffer and from one piece to several, in place, with holes, with an operation that
 * does not commute, and mixed with nonblocking operations. MPI-5.0 §6.3 to §6.12. */
#include "check_tools.h"
#include "hosts.h"

enum { LONGEST = 30000, TEXT = 1024 };

static const int lengths[] = {1, 12, 28, 29, 700, 4096, 8193, LONGEST};
static const char *const names[] = {"barrier", "bcast", "reduce", "allreduce", "reduce_scatter",
                                    "gather", "scatter", "allgather", "alltoall", "scan"};
static int *input, *output, *scratch;

static int value(int from, int to, int index)
{
    return from * 1000003 + to * 1009 + index;
}

/* Of affine maps x -> a x + b modulo 2^32, as pairs (a, b): associative, and the order shows. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    unsigned *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < *count; i++, f += 2, g += 2) {
        g[1] = f[0] * g[1] + f[1];
        g[0] *= f[0];
    }
}

static void operand(int rank, int pairs, unsigned *to)
{
    for (int i = 0; i < pairs; i++) {
        to[2 * i] = (unsigned)(2 * rank + 3 + i);
        to[2 * i + 1] = (unsigned)(7 * rank + i + 1);
    }
}

/* What ranks 0 to `last` give together. */
static void composed(int last, int pairs, unsigned *to)
{
    MPI_Datatype none = MPI_DATATYPE_NULL;
    operand(last, pairs, to);
    for (int rank = last - 1; rank >= 0; rank--) {
        operand(rank, pairs, (unsigned *)scratch);
        compose(scratch, to, &pairs, &none);
    }
}

static void rooted(MPI_Comm comm, int length, int root)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < length; i++)
        input[i] = rank == root ? value(root, 0, i) : -1;
    MPI_Bcast(input, length, MPI_INT, root, comm);
    for (int i = 0; i < length; i++)
        CHECK_EQUAL(input[i], value(root, 0, i), "MPI-5.0 §6.4");

    int block = (length + size - 1) / size;
    for (int i = 0; i < block; i++)
        input[i] = value(rank, root, i);
    MPI_Gather(input, block, MPI_INT, output, block, MPI_INT, root, comm);
    for (int from = 0; rank == root && from < size; from++)
        for (int i = 0; i < block; i++)
            CHECK_EQUAL(output[from * block + i], value(from, root, i), "MPI-5.0 §6.5");
    for (int i = 0; i < block * size; i++)
        input[i] = value(root, i / block, i % block);
    MPI_Scatter(input, block, MPI_INT, rank == root ? MPI_IN_PLACE : output, block, MPI_INT, root, comm);
    for (int i = 0; rank != root && i < block; i++)
        CHECK_EQUAL(output[i], value(root, rank, i), "MPI-5.0 §6.6");
}

static void to_all(MPI_Comm comm, int length)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int block = (length + size - 1) / size;
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int i = 0; i < block; i++)
            (in_place ? output + rank * block : input)[i] = value(rank, 7, i);
        MPI_Allgather(in_place ? MPI_IN_PLACE : input, block, MPI_INT, output, block, MPI_INT, comm);
        for (int i = 0; i < block * size; i++)
            CHECK_EQUAL(output[i], value(i / block, 7, i % block), "MPI-5.0 §6.7");
        for (int i = 0; i < block * size; i++)
            (in_place ? output : input)[i] = value(rank, i / block, i % block);
        MPI_Alltoall(in_place ? MPI_IN_PLACE : input, block, MPI_INT, output, block, MPI_INT, comm);
        for (int i = 0; i < block * size; i++)
            CHECK_EQUAL(output[i], value(i / block, rank, i % block), "MPI-5.0 §6.8");
    }
}

static void reductions(MPI_Comm comm, int length, int root, MPI_Datatype pair, MPI_Op op)
{
    int rank, size, pairs = (length + 1) / 2;
    unsigned *expected = malloc(2 * sizeof *expected * (size_t)pairs);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    composed(size - 1, pairs, expected);
    for (int in_place = 0; in_place < 2; in_place++) {
        operand(rank, pairs, (unsigned *)(in_place ? output : input));
        MPI_Allreduce(in_place ? MPI_IN_PLACE : input, output, pairs, pair, op, comm);
        CHECK(memcmp(output, expected, 2 * sizeof *expected * (size_t)pairs) == 0, "MPI-5.0 §6.9.6");
        operand(rank, pairs, (unsigned *)(in_place && rank == root ? output : input));
        MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : input, output, pairs, pair, op, root, comm);
        CHECK(rank != root || memcmp(output, expected, 2 * sizeof *expected * (size_t)pairs) == 0, "MPI-5.0 §6.9.1");
        int share = pairs / size;
        operand(rank, pairs, (unsigned *)(in_place ? output : input));
        MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : input, output, share, pair, op, comm);
        CHECK(memcmp(output, expected + 2 * rank * share, 2 * sizeof *expected * (size_t)share) == 0,
              "MPI-5.0 §6.10.1");
    }
    composed(rank, pairs, expected);
    operand(rank, pairs, (unsigned *)input);
    MPI_Scan(input, output, pairs, pair, op, comm);
    CHECK(memcmp(output, expected, 2 * sizeof *expected * (size_t)pairs) == 0, "MPI-5.0 §6.11.1");
    free(expected);
}

/* The root's elements have no holes, the others' have. */
static void with_holes(MPI_Comm comm, int length)
{
    int rank;
    MPI_Datatype holes;
    MPI_Comm_rank(comm, &rank);
    length = length / 2 > 0 ? length / 2 : 1;
    MPI_Type_vector(length, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    for (int i = 0; i < 2 * length; i++)
        output[i] = -i;
    for (int i = 0; i < length; i++)
        input[i] = value(0, 3, i);
    if (rank == 0)
        MPI_Bcast(input, length, MPI_INT, 0, comm);
    else
        MPI_Bcast(output, 1, holes, 0, comm);
    for (int i = 0; rank != 0 && i < length; i++) {
        CHECK_EQUAL(output[2 * i], value(0, 3, i), "MPI-5.0 §6.4");
        CHECK(i == length - 1 || output[2 * i + 1] == -(2 * i + 1), "MPI-5.0 §6.4: the holes stay");
    }
    MPI_Type_free(&holes);
}

/* What stands between them is matched among its own kind: §6.12. */
static void mixed(MPI_Comm comm)
{
    int rank, size, sum = -1, last;
    MPI_Request requests[2];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    last = rank == size - 1 ? 77 : -1;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Barrier(comm);
    MPI_Ibcast(&last, 1, MPI_INT, size - 1, comm, &requests[1]);
    int all = rank;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(sum, size * (size - 1) / 2, "MPI-5.0 §6.12");
    CHECK_EQUAL(last, 77, "MPI-5.0 §6.12");
    CHECK_EQUAL(all, size - 1, "MPI-5.0 §6.12");
}

/* More of them than fit, so that whoever is ahead waits. */
static void ahead(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 200; i++) {
        int word = rank == 0 ? i : -1;
        MPI_Bcast(&word, 1, MPI_INT, 0, comm);
        CHECK_EQUAL(word, i, "MPI-5.0 §6.4");
    }
}

/* Sets an operation's algorithm to the one of that name; false if it has none. */
static int choose(const char *operation, const char *algorithm)
{
    char name[TEXT], text[TEXT];
    int index = -1, count, length = sizeof text;
    number chosen = 0;
    MPI_T_cvar_handle handle;
    snprintf(name, sizeof name, "weft_%s_algorithm", operation);
    CHECK_EQUAL(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS, "MPI-5.0 §15.3.6");
    MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, text, &length, NULL, NULL);
    if (algorithm) {
        char mark[64];
        snprintf(mark, sizeof mark, " %s", algorithm);
        char *at = strstr(text, mark);
        if (!at)
            return 0;
        while (at[-1] >= '0' && at[-1] <= '9')
            at--;
        chosen = strtoull(at, NULL, 10);
        CHECK(chosen > 0, "an algorithm's number");
    }
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    CHECK_EQUAL(MPI_T_cvar_write(handle, &chosen), MPI_SUCCESS, "MPI-5.0 §15.3.6");
    MPI_T_cvar_handle_free(&handle);
    return 1;
}

static void all_of(MPI_Comm comm, MPI_Datatype pair, MPI_Op op)
{
    int size;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
        rooted(comm, lengths[i], i % size);
        to_all(comm, lengths[i]);
        reductions(comm, lengths[i], (i + 1) % size, pair, op);
        with_holes(comm, lengths[i]);
        mixed(comm);
    }
    ahead(comm);
}

int main(int argc, char **argv)
{
    const char *const algorithms[] = {"shared", "direct", NULL};
    MPI_Comm comms[4];
    MPI_Datatype pair;
    MPI_Op op;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle arenas;
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    check_start(&argc, &argv, "shared_memory");
    int rank = rank_of_world, size = size_of_world;
    input = calloc(LONGEST + 64, sizeof *input);
    output = calloc(LONGEST + 64, sizeof *output);
    scratch = calloc(LONGEST + 64, sizeof *scratch);
    MPI_T_pvar_session_create(&session);
    arenas = variable(session, "weft_arenas");
    MPI_T_pvar_start(session, arenas);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
    for (int a = 0; a < 3; a++) {
        int have = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
            have += choose(names[i], algorithms[a]);
        CHECK(have >= 6, "algorithms that share memory");
        if (!algorithms[a])
            CHECK(choose("allreduce", "shared_slices"), "an allreduce in slices");
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 4; i++)
            all_of(comms[i], pair, op);
        for (int i = 0; i < 64; i++) {
            int word = -1;
            MPI_Allreduce(&rank, &word, 1, MPI_INT, MPI_MAX, comms[i % 3]);
            CHECK_EQUAL(word, size - 1, "MPI-5.0 §6.9.6: communicators of the same processes in turn");
        }
    }
    number made = value_of(session, arenas);
    int *first = first_sharing();
    CHECK(ranks_beside(first) == 1 ? made == 0 : made >= 3, "memory is shared", "%llu arenas", made);
    free(first);
    for (int i = 1; i < 4; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    MPI_T_pvar_handle_free(session, &arenas);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    free(input);
    free(output);
    free(scratch);
    return check_finish();
}
