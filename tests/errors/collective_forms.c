/* Wrong arguments of nonblocking and persistent collective calls, of those on inter-communicators and neighbourhoods,
 * and of operations: MPI-5.0 §6.2 to §6.13, §8.6. Each is wrong on every rank alike.
 * ranks: 1,2,4 */
#include "expect.h"

static int out[64], in[64], counts[8], places[8], negative[8] = { -1, -1, -1, -1, -1, -1, -1, -1 };
static MPI_Count large_counts[8], large_negative[8] = { -1, -1, -1, -1, -1, -1, -1, -1 };
static MPI_Aint large_places[8];
static MPI_Datatype types[8], bad_types[8];

static void add(void *a, void *b, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)b)[i] += ((int *)a)[i];
}

static void add_large(void *a, void *b, MPI_Count *length, MPI_Datatype *type)
{
    int short_length = (int)*length;
    add(a, b, &short_length, type);
}

/* As the blocking form reports, so do the others, in the call that starts or prepares. */
#define EXPECT_THREE(expected, name, lower, c, ...) \
    do { \
        MPI_Request request_ = MPI_REQUEST_NULL; \
        EXPECT(expected, MPI_##name##c(__VA_ARGS__)); \
        EXPECT(expected, MPI_I##lower##c(__VA_ARGS__, &request_)); \
        EXPECT(expected, MPI_##name##_init##c(__VA_ARGS__, MPI_INFO_NULL, &request_)); \
    } while (0)

/* And so do the three with large counts: of numbers, or of the arrays with these names. */
#define EXPECT_FORMS(expected, name, lower, ...) \
    do { \
        EXPECT_THREE(expected, name, lower, , __VA_ARGS__); \
        { \
            const MPI_Count *counts = large_counts, *negative = large_negative; \
            const MPI_Aint *places = large_places; \
            (void)counts, (void)negative, (void)places; \
            EXPECT_THREE(expected, name, lower, _c, __VA_ARGS__); \
        } \
    } while (0)

/* What tells apart the forms that start or prepare: a place for the request, and an info object. */
#define EXPECT_REQUESTS(name, lower, ...) \
    do { \
        MPI_Request request_ = MPI_REQUEST_NULL; \
        MPI_Info wrong_ = (MPI_Info)(uintptr_t)0x5000; \
        EXPECT_COUNTS(MPI_ERR_ARG, I##lower, __VA_ARGS__, NULL); \
        EXPECT(MPI_ERR_ARG, MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, NULL)); \
        EXPECT(MPI_ERR_ARG, MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, NULL)); \
        EXPECT(MPI_ERR_INFO, MPI_##name##_init(__VA_ARGS__, wrong_, &request_)); \
        EXPECT(MPI_ERR_INFO, MPI_##name##_init_c(__VA_ARGS__, wrong_, &request_)); \
    } while (0)

static void arguments(MPI_Comm comm, int size)
{
    MPI_Request request;
    EXPECT_THREE(MPI_ERR_COMM, Barrier, barrier, , MPI_COMM_NULL);
    EXPECT_FORMS(MPI_ERR_ROOT, Bcast, bcast, out, 1, MPI_INT, size, comm);
    EXPECT_FORMS(MPI_ERR_ROOT, Bcast, bcast, out, 1, MPI_INT, MPI_ROOT, comm);
    EXPECT_FORMS(MPI_ERR_ROOT, Bcast, bcast, out, 1, MPI_INT, MPI_PROC_NULL, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Bcast, bcast, out, -1, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_TYPE, Bcast, bcast, out, 1, MPI_DATATYPE_NULL, 0, comm);
    EXPECT_FORMS(MPI_ERR_BUFFER, Bcast, bcast, NULL, 1, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_ROOT, Gather, gather, out, 1, MPI_INT, in, 1, MPI_INT, -7, comm);
    /* The root alone looks at what it receives. */
    EXPECT_FORMS(MPI_ERR_COUNT, Gatherv, gatherv, out, rank_of_world ? -1 : 1, MPI_INT, in, negative, places, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Gatherv, gatherv, out, -1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_TYPE, Gatherv, gatherv, out, 1, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_ROOT, Gatherv, gatherv, out, 1, MPI_INT, in, counts, places, MPI_INT, size, comm);
    EXPECT_FORMS(MPI_ERR_COMM, Gatherv, gatherv, out, 1, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_NULL);
    EXPECT_FORMS(MPI_ERR_COUNT, Scatterv, scatterv, out, negative, places, MPI_INT, in, -1, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_TYPE, Scatterv, scatterv, out, counts, places, MPI_INT, in, 1, MPI_DATATYPE_NULL, 0, comm);
    EXPECT_FORMS(MPI_ERR_ROOT, Scatterv, scatterv, out, counts, places, MPI_INT, in, 1, MPI_INT, -1, comm);
    EXPECT_FORMS(MPI_ERR_COMM, Scatterv, scatterv, out, counts, places, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_NULL);
    EXPECT_FORMS(MPI_ERR_COUNT, Alltoall, alltoall, out, 1, MPI_INT, in, -1, MPI_INT, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Scatter, scatter, out, -1, MPI_INT, in, -1, MPI_INT, 0, comm);
    EXPECT_FORMS(MPI_ERR_TYPE, Allgather, allgather, out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, comm);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allgather, allgather, out, 1, MPI_INT, out, 1, MPI_INT, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Allgatherv, allgatherv, out, 1, MPI_INT, in, negative, places, MPI_INT, comm);
    EXPECT_FORMS(MPI_ERR_ARG, Allgatherv, allgatherv, out, 1, MPI_INT, in, NULL, places, MPI_INT, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Alltoallv, alltoallv, out, negative, places, MPI_INT, in, counts, places, MPI_INT, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Alltoallw, alltoallw, out, counts, places, types, in, negative, places, types, comm);
    EXPECT_FORMS(MPI_ERR_TYPE, Alltoallw, alltoallw, out, counts, places, bad_types, in, counts, places, types, comm);
    EXPECT_FORMS(MPI_ERR_TYPE, Alltoallw, alltoallw, out, counts, places, types, in, counts, places, bad_types, comm);
    EXPECT_FORMS(MPI_ERR_ARG, Alltoallw, alltoallw, out, counts, places, types, in, counts, places, NULL, comm);
    EXPECT_FORMS(MPI_ERR_OP, Reduce, reduce, out, in, 1, MPI_INT, MPI_OP_NULL, 0, comm);
    EXPECT_FORMS(MPI_ERR_OP, Allreduce, allreduce, out, in, 1, MPI_FLOAT, MPI_BAND, comm);
    EXPECT_FORMS(MPI_ERR_OP, Allreduce, allreduce, out, in, 1, MPI_INT, MPI_REPLACE, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Reduce_scatter, reduce_scatter, out, in, negative, MPI_INT, MPI_SUM, comm);
    EXPECT_FORMS(MPI_ERR_COUNT, Reduce_scatter_block, reduce_scatter_block, out, in, -1, MPI_INT, MPI_SUM, comm);
    EXPECT_FORMS(MPI_ERR_BUFFER, Scan, scan, out, out, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_FORMS(MPI_ERR_OP, Exscan, exscan, out, in, 1, MPI_INT, MPI_OP_NULL, comm);
    EXPECT_REQUESTS(Bcast, bcast, out, 1, MPI_INT, 0, MPI_COMM_SELF);
    EXPECT_REQUESTS(Allgather, allgather, out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_SELF);
    EXPECT_REQUESTS(Allreduce, allreduce, out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    EXPECT(MPI_ERR_ARG, MPI_Ibarrier(comm, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Barrier_init(comm, MPI_INFO_NULL, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Barrier_init(comm, (MPI_Info)&request, &request));
}

static void operations(void)
{
    MPI_Op op, freed;
    int commute;
    EXPECT_COUNTS(MPI_ERR_ARG, Op_create, NULL, 1, &op);
    EXPECT(MPI_ERR_ARG, MPI_Op_create(add, 1, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Op_create_c(add_large, 1, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Op_free(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Op_commutative(MPI_SUM, NULL));
    op = MPI_SUM;
    EXPECT(MPI_ERR_OP, MPI_Op_free(&op));
    op = MPI_OP_NULL;
    EXPECT(MPI_ERR_OP, MPI_Op_free(&op));
    EXPECT(MPI_ERR_OP, MPI_Op_commutative(MPI_OP_NULL, &commute));
    MPI_Op_create(add, 1, &op);
    freed = op;
    MPI_Op_free(&op);
    EXPECT(MPI_ERR_OP, MPI_Allreduce(out, in, 1, MPI_INT, freed, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_OP, MPI_Op_free(&freed));
    EXPECT(MPI_ERR_OP, MPI_Op_commutative(freed, &commute));
    EXPECT_COUNTS(MPI_ERR_BUFFER, Reduce_local, MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Reduce_local, NULL, in, 1, MPI_INT, MPI_SUM);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Reduce_local, out, NULL, 1, MPI_INT, MPI_SUM);
    EXPECT_COUNTS(MPI_ERR_COUNT, Reduce_local, out, in, -1, MPI_INT, MPI_SUM);
    EXPECT_COUNTS(MPI_ERR_OP, Reduce_local, out, in, 1, MPI_INT, MPI_OP_NULL);
    EXPECT_COUNTS(MPI_ERR_OP, Reduce_local, out, in, 1, MPI_FLOAT, MPI_BAND);
    EXPECT_COUNTS(MPI_ERR_TYPE, Reduce_local, out, in, 1, MPI_DATATYPE_NULL, MPI_SUM);
}

/* An operation that is under way is neither freed nor cancelled (MPI-5.0 §6.12), and a started one not started again. */
static void requests(void)
{
    MPI_Request request, prepared;
    int flag = 0, token = 0, last = size_of_world - 1;
    if (size_of_world < 2)
        return;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &prepared);
    if (rank_of_world == last)
        MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Start(&prepared);
    if (rank_of_world == 0) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "MPI-5.0 §6.3");
        EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&request));
        EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&request));
        EXPECT(MPI_ERR_REQUEST, MPI_Start(&request));
        EXPECT(MPI_ERR_REQUEST, MPI_Start(&prepared));
        EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&prepared));
        EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&prepared));
        MPI_Send(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&prepared, MPI_STATUS_IGNORE);
    MPI_Request_free(&prepared);
}

static void between_groups(void)
{
    MPI_Comm half, inter;
    int remote, high = rank_of_world % 2;
    if (size_of_world < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, high, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - high, 0, &inter);
    return_errors(inter);
    MPI_Comm_remote_size(inter, &remote);
    EXPECT_FORMS(MPI_ERR_COMM, Scan, scan, out, in, 1, MPI_INT, MPI_SUM, inter);
    EXPECT_FORMS(MPI_ERR_COMM, Exscan, exscan, out, in, 1, MPI_INT, MPI_SUM, inter);
    EXPECT_FORMS(MPI_ERR_ROOT, Bcast, bcast, out, 1, MPI_INT, remote, inter);
    EXPECT_FORMS(MPI_ERR_ROOT, Bcast, bcast, out, 1, MPI_INT, MPI_ANY_SOURCE, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allgather, allgather, MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Alltoall, alltoall, MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allreduce, allreduce, MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Reduce_scatter_block, reduce_scatter_block, MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Gather, gather, MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, 0, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Scatter, scatter, out, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, inter);
    EXPECT_FORMS(MPI_ERR_BUFFER, Reduce, reduce, MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, 0, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* A block that is sent is one that is received, in every operation that has both (MPI-5.0 §2.3). */
static void aliased(void)
{
    MPI_Comm self = MPI_COMM_SELF, world = MPI_COMM_WORLD;
    const int *own = in + rank_of_world;
    EXPECT_FORMS(MPI_ERR_BUFFER, Gather, gather, in, 1, MPI_INT, in, 1, MPI_INT, 0, self);
    EXPECT_FORMS(MPI_ERR_BUFFER, Gatherv, gatherv, in, 1, MPI_INT, in, counts, places, MPI_INT, 0, self);
    EXPECT_FORMS(MPI_ERR_BUFFER, Scatter, scatter, in, 1, MPI_INT, in, 1, MPI_INT, 0, self);
    EXPECT_FORMS(MPI_ERR_BUFFER, Scatterv, scatterv, in, counts, places, MPI_INT, in, 1, MPI_INT, 0, self);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allgather, allgather, in, 1, MPI_INT, in, 1, MPI_INT, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allgatherv, allgatherv, in, 1, MPI_INT, in, counts, places, MPI_INT, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allgatherv, allgatherv, own, 1, MPI_INT, in, counts, places, MPI_INT, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Alltoall, alltoall, in, 1, MPI_INT, in, 1, MPI_INT, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Alltoallv, alltoallv, in, counts, places, MPI_INT, in, counts, places, MPI_INT, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Alltoallw, alltoallw, in, counts, places, types, in, counts, places, types, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Allreduce, allreduce, in, in, 1, MPI_INT, MPI_SUM, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Reduce_scatter, reduce_scatter, in, in, counts, MPI_INT, MPI_SUM, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Reduce_scatter_block, reduce_scatter_block, in, in, 1, MPI_INT, MPI_SUM, world);
    EXPECT_FORMS(MPI_ERR_BUFFER, Scan, scan, in, in, 1, MPI_INT, MPI_SUM, world);
}

static void neighborhoods(void)
{
    MPI_Comm ring;
    int periodic = 1;
    MPI_Aint bytes[8] = { 0 };
    EXPECT_FORMS(MPI_ERR_TOPOLOGY, Neighbor_allgather, neighbor_allgather, out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    EXPECT_FORMS(MPI_ERR_TOPOLOGY, Neighbor_alltoallv, neighbor_alltoallv, out, counts, places, MPI_INT, in, counts, places,
                 MPI_INT, MPI_COMM_WORLD);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size_of_world, &periodic, 0, &ring);
    return_errors(ring);
    EXPECT_FORMS(MPI_ERR_BUFFER, Neighbor_allgather, neighbor_allgather, MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_COUNT, Neighbor_alltoall, neighbor_alltoall, out, -1, MPI_INT, in, -1, MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_COUNT, Neighbor_allgatherv, neighbor_allgatherv, out, 1, MPI_INT, in, negative, places, MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_ARG, Neighbor_alltoallv, neighbor_alltoallv, out, counts, NULL, MPI_INT, in, counts, places, MPI_INT,
                 ring);
    EXPECT_FORMS(MPI_ERR_TYPE, Neighbor_alltoallw, neighbor_alltoallw, out, counts, bytes, bad_types, in, counts, bytes, types,
                 ring);
    EXPECT_FORMS(MPI_ERR_BUFFER, Neighbor_allgather, neighbor_allgather, in, 1, MPI_INT, in, 1, MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_BUFFER, Neighbor_allgatherv, neighbor_allgatherv, in + 1, 1, MPI_INT, in, counts, places,
                 MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_BUFFER, Neighbor_alltoall, neighbor_alltoall, in, 1, MPI_INT, in, 1, MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_BUFFER, Neighbor_alltoallv, neighbor_alltoallv, in, counts, places, MPI_INT, in, counts, places,
                 MPI_INT, ring);
    EXPECT_FORMS(MPI_ERR_BUFFER, Neighbor_alltoallw, neighbor_alltoallw, in, counts, bytes, types, in, counts, bytes,
                 types, ring);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "collective_forms");
    for (int i = 0; i < 8; i++)
        counts[i] = large_counts[i] = 1, places[i] = large_places[i] = i, types[i] = MPI_INT, bad_types[i] = MPI_DATATYPE_NULL;
    arguments(MPI_COMM_WORLD, size_of_world);
    operations();
    requests();
    between_groups();
    aliased();
    neighborhoods();
    return expect_finish();
}
