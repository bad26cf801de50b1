/* Graph topologies: MPI-5.0 §8.5.3, §8.5.5. A ring with a tail: node r has r + 1 and, but for the last, itself. */
#include "check.h"

static int index_of[64], edges[128], edge_count;

static void build(int nodes)
{
    edge_count = 0;
    for (int r = 0; r < nodes; r++) {
        edges[edge_count++] = (r + 1) % nodes;
        if (r + 1 < nodes)
            edges[edge_count++] = r;
        index_of[r] = edge_count;
    }
}

static void neighbours(MPI_Comm comm, int nodes)
{
    for (int r = 0; r < nodes; r++) {
        int count = -1, got[4] = { -1, -1, -1, -1 }, first = r ? index_of[r - 1] : 0;
        MPI_Graph_neighbors_count(comm, r, &count);
        CHECK_EQUAL(count, index_of[r] - first, "MPI-5.0 §8.5.5");
        MPI_Graph_neighbors(comm, r, 4, got);
        for (int n = 0; n < 4; n++)
            CHECK_EQUAL(got[n], n < count ? edges[first + n] : -1, "MPI-5.0 §8.5.5");
        got[0] = got[1] = -1;
        MPI_Graph_neighbors(comm, r, 1, got);
        CHECK(got[0] == edges[first] && got[1] == -1, "MPI-5.0 §8.5.5: as many as there is room for");
    }
}

static void graph(int nodes)
{
    MPI_Comm comm, twin;
    int place = -1, status = -1, count = -1, total = -1, got_index[64], got_edges[128], sum = -1, one = 1;
    build(nodes);
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index_of, edges, 0, &comm);
    MPI_Graph_map(MPI_COMM_WORLD, nodes, index_of, edges, &place);
    CHECK((comm != MPI_COMM_NULL) == (rank_of_world < nodes), "MPI-5.0 §8.5.3");
    if (comm == MPI_COMM_NULL) {
        CHECK_EQUAL(place, MPI_UNDEFINED, "MPI-5.0 §8.5.8");
        return;
    }
    CHECK_EQUAL(place, rank_of_world, "MPI-5.0 §8.5.8");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, nodes, "MPI-5.0 §8.5.3");
    MPI_Topo_test(comm, &status);
    CHECK_EQUAL(status, MPI_GRAPH, "MPI-5.0 §8.5.5");
    MPI_Graphdims_get(comm, &count, &total);
    CHECK(count == nodes && total == edge_count, "MPI-5.0 §8.5.5");
    MPI_Graph_get(comm, nodes, edge_count, got_index, got_edges);
    CHECK(!memcmp(got_index, index_of, nodes * sizeof(int)) && !memcmp(got_edges, edges, edge_count * sizeof(int)),
          "MPI-5.0 §8.5.5");
    neighbours(comm, nodes);
    MPI_Comm_dup(comm, &twin);
    MPI_Comm_free(&comm);
    neighbours(twin, nodes);
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv)
{
    MPI_Comm none;
    check_start(&argc, &argv, "graph");
    for (int nodes = 1; nodes <= size_of_world; nodes++)
        graph(nodes);
    MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &none);
    CHECK(none == MPI_COMM_NULL, "MPI-5.0 §8.5.3: no nodes");
    return check_finish();
}
