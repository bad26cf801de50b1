/* Distributed graphs: MPI-5.0 §8.5.4, §8.5.5. Rank r sends to r + 1, r + 2 and, twice, to itself; the weight of an edge
 * is 100 * source + 10 * destination, plus 1 for the second to itself. */
#include "check.h"

enum { DEGREE = 4 };

/* Volatile, or the compiler takes the special addresses for arrays and warns. */
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile weights_empty = MPI_WEIGHTS_EMPTY;
static int out[DEGREE], out_weights[DEGREE], in[DEGREE], in_weights[DEGREE];

static int weight(int source, int destination, int second) { return 100 * source + 10 * destination + second; }

static void build(void)
{
    int n = size_of_world, r = rank_of_world;
    int to[DEGREE] = { (r + 1) % n, r, (r + 2) % n, r }, from[DEGREE] = { r, (r + n - 1) % n, r, (r + 2 * n - 2) % n };
    for (int e = 0; e < DEGREE; e++) {
        out[e] = to[e], in[e] = from[e];
        out_weights[e] = weight(r, to[e], e == 3);
        in_weights[e] = weight(from[e], r, e == 2);
    }
}

static void counts_are(MPI_Comm comm, int incoming, int outgoing, int weighted)
{
    int got[3] = { -1, -1, -1 }, status = -1;
    MPI_Topo_test(comm, &status);
    CHECK_EQUAL(status, MPI_DIST_GRAPH, "MPI-5.0 §8.5.5");
    MPI_Dist_graph_neighbors_count(comm, &got[0], &got[1], &got[2]);
    CHECK(got[0] == incoming && got[1] == outgoing && !got[2] == !weighted, "MPI-5.0 §8.5.5");
}

/* In the order given, weights with them. */
static void adjacent(int weighted, int reorder)
{
    MPI_Comm comm, twin;
    int from[DEGREE], from_weights[DEGREE], to[DEGREE], to_weights[DEGREE];
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, DEGREE, in, weighted ? in_weights : unweighted, DEGREE, out,
                                   weighted ? out_weights : unweighted, MPI_INFO_NULL, reorder, &twin);
    MPI_Comm_dup(twin, &comm);
    MPI_Comm_free(&twin);
    counts_are(comm, DEGREE, DEGREE, weighted);
    memset(from_weights, 0x55, sizeof from_weights);
    memset(to_weights, 0x55, sizeof to_weights);
    MPI_Dist_graph_neighbors(comm, DEGREE, from, from_weights, DEGREE, to, to_weights);
    CHECK(!memcmp(from, in, sizeof in) && !memcmp(to, out, sizeof out), "MPI-5.0 §8.5.5: as they were given");
    if (weighted)
        CHECK(!memcmp(from_weights, in_weights, sizeof in) && !memcmp(to_weights, out_weights, sizeof out),
              "MPI-5.0 §8.5.5");
    memset(from, 0x55, sizeof from);
    MPI_Dist_graph_neighbors(comm, 2, from, unweighted, 0, NULL, unweighted);
    CHECK(from[0] == in[0] && from[1] == in[1] && from[2] == 0x55555555, "MPI-5.0 §8.5.5: the first ones");
    MPI_Comm_free(&comm);
}

static int compare(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void sorted_pairs(int pairs[DEGREE][2], const int *ranks, const int *weights)
{
    for (int e = 0; e < DEGREE; e++)
        pairs[e][0] = ranks[e], pairs[e][1] = weights[e];
    qsort(pairs, DEGREE, sizeof pairs[0], compare);
}

/* Same edges, in whatever order: the standard leaves it open, but for that it is always the same. */
static void has_the_edges(MPI_Comm comm)
{
    int from[DEGREE], from_weights[DEGREE], to[DEGREE], to_weights[DEGREE], again[DEGREE];
    int pairs[DEGREE][2], expected[DEGREE][2];
    counts_are(comm, DEGREE, DEGREE, 1);
    MPI_Dist_graph_neighbors(comm, DEGREE, from, from_weights, DEGREE, to, to_weights);
    sorted_pairs(pairs, from, from_weights);
    sorted_pairs(expected, in, in_weights);
    CHECK(!memcmp(pairs, expected, sizeof pairs), "MPI-5.0 §8.5.4");
    sorted_pairs(pairs, to, to_weights);
    sorted_pairs(expected, out, out_weights);
    CHECK(!memcmp(pairs, expected, sizeof pairs), "MPI-5.0 §8.5.4");
    MPI_Dist_graph_neighbors(comm, DEGREE, again, unweighted, 0, NULL, unweighted);
    CHECK(!memcmp(from, again, sizeof from), "MPI-5.0 §8.5.5");
}

/* Each rank gives its own edges; then each those of its left neighbour, in two parts; then rank 0 all of them. */
static void given_by_others(void)
{
    MPI_Comm comm;
    int degree = DEGREE;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank_of_world, &degree, out, out_weights, MPI_INFO_NULL, 0, &comm);
    has_the_edges(comm);
    MPI_Comm_free(&comm);

    int left = left_neighbour(), n = size_of_world;
    int sources[3] = { left, left, left }, degrees[3] = { 1, 0, 3 };
    int to[DEGREE] = { left, (left + 1) % n, (left + 2) % n, left };
    int weights[DEGREE] = { weight(left, left, 1), weight(left, to[1], 0), weight(left, to[2], 0), weight(left, left, 0) };
    MPI_Dist_graph_create(MPI_COMM_WORLD, 3, sources, degrees, to, weights, MPI_INFO_NULL, 1, &comm);
    has_the_edges(comm);
    MPI_Comm_free(&comm);

    int *all = need(5 * DEGREE * n * sizeof(int)), *all_degrees = all + n, *all_to = all + 2 * n;
    int *all_weights = all_to + DEGREE * n;
    for (int r = 0; r < n; r++) {
        all[r] = r, all_degrees[r] = DEGREE;
        int ends[DEGREE] = { r, r, (r + 1) % n, (r + 2) % n };
        for (int e = 0; e < DEGREE; e++)
            all_to[DEGREE * r + e] = ends[e], all_weights[DEGREE * r + e] = weight(r, ends[e], e == 0);
    }
    int mine = rank_of_world == 0 ? n : 0;
    MPI_Dist_graph_create(MPI_COMM_WORLD, mine, all, all_degrees, all_to, mine ? all_weights : weights_empty,
                          MPI_INFO_NULL, 0, &comm);
    has_the_edges(comm);
    MPI_Comm_free(&comm);
    free(all);
}

static void without_edges(void)
{
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, weights_empty, 0, NULL, weights_empty,
                                   MPI_INFO_NULL, 0, &comm);
    counts_are(comm, 0, 0, 1);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, unweighted, MPI_INFO_NULL, 0, &comm);
    counts_are(comm, 0, 0, 0);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "dist_graph");
    build();
    adjacent(0, 0);
    adjacent(1, 1);
    given_by_others();
    without_edges();
    return check_finish();
}
