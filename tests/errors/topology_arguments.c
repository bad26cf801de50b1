/* Wrong arguments of topology calls: MPI-5.0 chapter 8. Wrong on every rank alike. */
#include "expect.h"

static MPI_Comm comm;
static int value, values[4], other;
/* Volatile, or the compiler takes the special addresses for arrays and warns. */
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile weights_empty = MPI_WEIGHTS_EMPTY;

static void grids(void)
{
    int n = size_of_world, periods[2] = { 0, 0 };
    EXPECT(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 1, &n, periods, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, -1, &n, periods, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, periods, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 1, &n, NULL, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 1, &n, periods, 0, NULL));
    EXPECT(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ n + 1 }, periods, 0, &comm));
    EXPECT(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ 0 }, periods, 0, &comm));
    EXPECT(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){ -1, -1 }, periods, 0, &comm));
    EXPECT(MPI_ERR_DIMS, MPI_Cart_map(MPI_COMM_WORLD, 1, (int[]){ n + 1 }, periods, &value));
    EXPECT(MPI_ERR_DIMS, MPI_Dims_create(7, 3, (int[]){ 0, 3, 0 }));
    EXPECT(MPI_ERR_DIMS, MPI_Dims_create(6, 2, (int[]){ -1, 0 }));
    EXPECT(MPI_ERR_ARG, MPI_Dims_create(0, 2, (int[]){ 0, 0 }));
    EXPECT(MPI_ERR_ARG, MPI_Dims_create(6, -1, (int[]){ 0, 0 }));
    EXPECT(MPI_ERR_ARG, MPI_Dims_create(6, 2, NULL));
}

static void asked_of_a_grid(void)
{
    MPI_Comm grid;
    int n = size_of_world, period = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &period, 0, &grid);
    EXPECT(MPI_ERR_ARG, MPI_Cart_rank(grid, (int[]){ n }, &value));
    EXPECT(MPI_ERR_ARG, MPI_Cart_rank(grid, (int[]){ -1 }, &value));
    EXPECT(MPI_ERR_ARG, MPI_Cart_rank(grid, NULL, &value));
    EXPECT(MPI_ERR_RANK, MPI_Cart_coords(grid, n, 1, values));
    EXPECT(MPI_ERR_RANK, MPI_Cart_coords(grid, MPI_PROC_NULL, 1, values));
    EXPECT_EITHER(MPI_ERR_DIMS, MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 0, values));
    EXPECT_EITHER(MPI_ERR_DIMS, MPI_ERR_ARG, MPI_Cart_get(grid, 0, values, values, values));
    EXPECT_EITHER(MPI_ERR_DIMS, MPI_ERR_ARG, MPI_Cart_shift(grid, 1, 1, &value, &other));
    EXPECT_EITHER(MPI_ERR_DIMS, MPI_ERR_ARG, MPI_Cart_shift(grid, -1, 1, &value, &other));
    EXPECT(MPI_ERR_ARG, MPI_Cart_sub(grid, NULL, &comm));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(grid, &value, &other));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(grid, &value, &other, values));
    MPI_Comm_free(&grid);
}

static void without_topology(void)
{
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(MPI_COMM_WORLD, &value));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cart_get(MPI_COMM_WORLD, 4, values, values, values));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cart_rank(MPI_COMM_WORLD, values, &value));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cart_coords(MPI_COMM_WORLD, 0, 4, values));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &value, &other));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cart_sub(MPI_COMM_WORLD, values, &comm));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(MPI_COMM_WORLD, &value, &other));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Graph_get(MPI_COMM_WORLD, 4, 4, values, values));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 4, values));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &value));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &value, &other, values));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors(MPI_COMM_WORLD, 4, values, values, 4, values, values));
    EXPECT(MPI_ERR_COMM, MPI_Topo_test(MPI_COMM_NULL, &value));
    EXPECT(MPI_ERR_ARG, MPI_Topo_test(MPI_COMM_WORLD, NULL));
}

static void graphs(void)
{
    int n = size_of_world, index[64], edges[64];
    MPI_Comm ring;
    for (int r = 0; r < n; r++)
        index[r] = r + 1, edges[r] = (r + 1) % n;
    index[n] = n;
    EXPECT(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, n + 1, index, edges, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, n, NULL, edges, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, n, index, NULL, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){ -1 }, edges, 0, &comm));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_RANK, MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){ 1 }, (int[]){ n }, 0, &comm));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_RANK, MPI_Graph_map(MPI_COMM_WORLD, 1, (int[]){ 1 }, (int[]){ -1 }, &value));
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &ring);
    EXPECT(MPI_ERR_RANK, MPI_Graph_neighbors_count(ring, n, &value));
    EXPECT(MPI_ERR_RANK, MPI_Graph_neighbors(ring, -1, 4, values));
    EXPECT(MPI_ERR_ARG, MPI_Graph_neighbors(ring, 0, -1, values));
    EXPECT(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(ring, &value));
    MPI_Comm_free(&ring);
}

static void distributed_graphs(void)
{
    int n = size_of_world, zero = 0, one = 1, *w = unweighted, *empty = weights_empty;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    EXPECT(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(world, 1, &n, w, 0, NULL, w, none, 0, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(world, 0, NULL, w, 1, (int[]){ -1 }, w, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, -1, &zero, w, 0, NULL, w, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, &zero, (int[]){ -1 }, 0, NULL, empty, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, &zero, empty, 0, NULL, empty, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, &zero, &one, 1, &zero, w, none, 0, &comm));
    EXPECT(MPI_ERR_INFO, MPI_Dist_graph_create_adjacent(world, 1, &zero, w, 1, &zero, w, (MPI_Info)0x7, 0, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Dist_graph_create(world, 1, &n, &one, &zero, w, none, 0, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Dist_graph_create(world, 1, &zero, &one, &n, w, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create(world, 1, &zero, (int[]){ -1 }, &zero, w, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create(world, 1, &zero, &one, NULL, w, none, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create(world, 1, &zero, &one, &zero, (int[]){ -5 }, none, 0, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Dist_graph_create(MPI_COMM_NULL, 1, &zero, &one, &zero, w, none, 0, &comm));
    /* All processes see that they do not agree, and none waits for another. */
    if (n > 1)
        EXPECT(MPI_ERR_ARG, MPI_Dist_graph_create(world, 1, &zero, &one, &zero, rank_of_world ? w : &one, none, 0, &comm));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "topology_arguments");
    grids();
    asked_of_a_grid();
    without_topology();
    graphs();
    distributed_graphs();
    return expect_finish();
}
