/* Neighbourhood collectives in every form: MPI-5.0 §8.6, §8.7, §8.9. On grids of few processes, where a neighbour is
 * met in both directions or is the process itself, what is sent in one direction comes from the other.
 *
 * MPICH 5.0.2 and Open MPI 5.0 mix up the directions of such grids in the nonblocking and persistent forms. */
#include "check.h"

enum { MOST = 64, LENGTH = 3, STARTS = 3 };

/* Volatile, or the compiler takes the special address for an array and warns. */
static int *volatile unweighted = MPI_UNWEIGHTED;
static MPI_Comm comm;
static int me, sources, destinations, source[MOST], destination[MOST];
static int topologies, round_number, out[MOST * LENGTH], in[2 * MOST * LENGTH];
static int out_counts[MOST], in_counts[MOST], out_places[MOST], in_places[MOST];
static MPI_Aint out_bytes[MOST], in_bytes[MOST];
static MPI_Datatype out_types[MOST], in_types[MOST], spaced;

static int value(int from, int edge, int index) { return ((round_number * 131 + from) * 131 + edge) * 131 + index; }

static void fill(void)
{
    round_number++;
    for (int edge = 0; edge < destinations; edge++)
        for (int i = 0; i < LENGTH; i++)
            out[edge * LENGTH + i] = value(me, edge, i);
    for (int i = 0; i < 2 * MOST * LENGTH; i++)
        in[i] = -1;
}

/* Which of its edges out the process at the other end of this edge in takes for it. All destination lists are known
 * from the way the graphs are made here. */
static int (*edge_of_source)(int edge);

static void check_blocks(int step, int counted, int all_alike, const char *what)
{
    for (int edge = 0; edge < sources; edge++)
        for (int i = 0; i < LENGTH; i++) {
            int got = in[(step * edge * LENGTH) + step * i];
            int gone = source[edge] == MPI_PROC_NULL || (counted && i >= in_counts[edge]);
            int wanted = gone ? -1 : value(source[edge], all_alike ? 0 : edge_of_source(edge), i);
            CHECK(got == wanted, what, "rank %d, source %d (%d), [%d]: %d, not %d", me, edge, source[edge], i, got, wanted);
        }
}

static void verify_allgather(const char *what) { check_blocks(1, 0, 1, what); }
static void verify_allgatherv(const char *what) { check_blocks(1, 1, 1, what); }
static void verify_alltoall(const char *what) { check_blocks(1, 0, 0, what); }
static void verify_alltoallv(const char *what) { check_blocks(1, 1, 0, what); }
static void verify_alltoallw(const char *what) { check_blocks(2, 1, 0, what); }

#define IN_EACH_FORM(blocking, nonblocking, persistent, verify, ...) \
    do { \
        MPI_Request request_; \
        fill(); \
        blocking(__VA_ARGS__); \
        verify(#blocking); \
        fill(); \
        nonblocking(__VA_ARGS__, &request_); \
        MPI_Wait(&request_, MPI_STATUS_IGNORE); \
        verify(#nonblocking); \
        persistent(__VA_ARGS__, MPI_INFO_NULL, &request_); \
        for (int start_ = 0; start_ < STARTS; start_++) { \
            fill(); \
            MPI_Start(&request_); \
            MPI_Wait(&request_, MPI_STATUS_IGNORE); \
            verify(#persistent); \
        } \
        MPI_Request_free(&request_); \
    } while (0)

#define IN_EVERY_FORM(Name, lower, verify, ...) \
    do { \
        IN_EACH_FORM(MPI_##Name, MPI_I##lower, MPI_##Name##_init, verify, __VA_ARGS__); \
        IN_EACH_FORM(MPI_##Name##_c, MPI_I##lower##_c, MPI_##Name##_init_c, verify, __VA_ARGS__); \
    } while (0)

/* Not all processes are in every topology; those in one have counted alike. */
static void new_topology(void) { round_number = 1000 * ++topologies; }

static void every_operation(void)
{
    MPI_Comm_rank(comm, &me);
    for (int edge = 0; edge < destinations; edge++) {
        out_counts[edge] = LENGTH - 1, out_places[edge] = edge * LENGTH, out_types[edge] = MPI_INT;
        out_bytes[edge] = edge * LENGTH * (MPI_Aint)sizeof(int);
    }
    for (int edge = 0; edge < sources; edge++) {
        in_counts[edge] = LENGTH - 1, in_places[edge] = edge * LENGTH, in_types[edge] = spaced;
        in_bytes[edge] = 2 * edge * LENGTH * (MPI_Aint)sizeof(int);
    }
    IN_EVERY_FORM(Neighbor_allgather, neighbor_allgather, verify_allgather, out, LENGTH, MPI_INT, in, LENGTH, MPI_INT, comm);
    IN_EVERY_FORM(Neighbor_alltoall, neighbor_alltoall, verify_alltoall, out, LENGTH, MPI_INT, in, LENGTH, MPI_INT, comm);
    IN_EACH_FORM(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, verify_allgatherv, out,
                 LENGTH - 1, MPI_INT, in, in_counts, in_places, MPI_INT, comm);
    IN_EACH_FORM(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, verify_alltoallv, out,
                 out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT, comm);
    IN_EACH_FORM(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, verify_alltoallw, out,
                 out_counts, out_bytes, out_types, in, in_counts, in_bytes, in_types, comm);
}

/* MPI-5.0 §8.6: the block sent in a direction is received from the other. */
static int opposite(int edge) { return edge ^ 1; }

static void grid(int ndims, const int *dims, const int *periods)
{
    new_topology();
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    sources = destinations = 2 * ndims;
    for (int d = 0; d < ndims; d++)
        MPI_Cart_shift(comm, d, 1, &source[2 * d], &source[2 * d + 1]);
    memcpy(destination, source, sizeof source);
    edge_of_source = opposite;
    every_operation();
    MPI_Comm_free(&comm);
}

static void grids(void)
{
    static const int on[3] = { 1, 1, 1 }, off[3] = { 0, 0, 0 }, mixed[3] = { 1, 0, 1 };
    int ring[1] = { size_of_world }, line[3] = { 1, size_of_world, 1 }, pair[3] = { 1, 1, 2 };
    grid(1, ring, on);
    grid(1, ring, off);
    grid(3, line, on);
    grid(3, line, mixed);
    if (size_of_world >= 2)
        grid(3, pair, on);
    if (size_of_world >= 4) {
        int square[2] = { 2, 2 };
        grid(2, square, on);
        grid(2, square, mixed);
    }
}

/* Each process has two edges to the next, and one to itself between them: the sources' order is that in which the
 * messages of one process come. */
static int same(int edge) { return edge; }

static void graph(void)
{
    new_topology();
    int next = right_neighbour(), previous = left_neighbour();
    int to[3] = { next, rank_of_world, next }, from[3] = { previous, rank_of_world, previous };
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, unweighted, 3, to, unweighted, MPI_INFO_NULL, 0, &comm);
    sources = destinations = 3;
    MPI_Dist_graph_neighbors(comm, 3, source, unweighted, 3, destination, unweighted);
    edge_of_source = same;
    every_operation();
    MPI_Comm_free(&comm);
}

/* Only some have edges: rank 0 hears from all others. */
static int first_edge(int edge) { return (void)edge, 0; }

static void star(void)
{
    new_topology();
    int count = rank_of_world == 0 ? size_of_world - 1 : 0, zero = 0;
    int *from = need((size_t)size_of_world * sizeof(int));
    for (int rank = 1; rank < size_of_world; rank++)
        from[rank - 1] = size_of_world - rank;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, from, unweighted, rank_of_world != 0, &zero, unweighted,
                                   MPI_INFO_NULL, 0, &comm);
    sources = count;
    destinations = rank_of_world != 0;
    memcpy(source, from, (size_t)count * sizeof(int));
    edge_of_source = first_edge;
    every_operation();
    MPI_Comm_free(&comm);
    free(from);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "neighborhoods");
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    grids();
    graph();
    star();
    MPI_Type_free(&spaced);
    return check_finish();
}
