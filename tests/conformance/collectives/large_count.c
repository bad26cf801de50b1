/* The large-count form of every collective. */
#include "check.h"

enum { EACH = 400 };
static int n, me, root;
static int *out, *in;
static MPI_Count *counts;
static MPI_Aint *places;

static void reset(void)
{
    for (int i = 0; i < n * EACH; i++) {
        out[i] = me * 1000000 + i;
        in[i] = -1;
    }
}

/* Blocks of all ranks, the k-th int of rank r being `r * 1000000 + base + k`. */
static void gathered(int base, const char *clause)
{
    for (int i = 0; i < n * EACH; i++)
        CHECK_EQUAL(in[i], i / EACH * 1000000 + base + i % EACH, clause);
}

static void movement(void)
{
    reset();
    MPI_Bcast_c(out, EACH, MPI_INT, root, MPI_COMM_WORLD);
    CHECK_EQUAL(out[EACH - 1], root * 1000000 + EACH - 1, "MPI-5.0 §6.4");
    reset();
    MPI_Gather_c(out, EACH, MPI_INT, in, EACH, MPI_INT, root, MPI_COMM_WORLD);
    if (me == root)
        gathered(0, "MPI-5.0 §6.5");
    reset();
    MPI_Gatherv_c(out, EACH, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    if (me == root)
        gathered(0, "MPI-5.0 §6.5");
    reset();
    MPI_Scatter_c(out, EACH, MPI_INT, in, EACH, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(in[0] == root * 1000000 + me * EACH && in[EACH - 1] == in[0] + EACH - 1, "MPI-5.0 §6.6");
    reset();
    MPI_Scatterv_c(out, counts, places, MPI_INT, in, EACH, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(in[0] == root * 1000000 + me * EACH && in[EACH - 1] == in[0] + EACH - 1, "MPI-5.0 §6.6");
    reset();
    MPI_Allgather_c(out, EACH, MPI_INT, in, EACH, MPI_INT, MPI_COMM_WORLD);
    gathered(0, "MPI-5.0 §6.7");
    reset();
    MPI_Allgatherv_c(out, EACH, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    gathered(0, "MPI-5.0 §6.7");
    reset();
    MPI_Alltoall_c(out, EACH, MPI_INT, in, EACH, MPI_INT, MPI_COMM_WORLD);
    gathered(me * EACH, "MPI-5.0 §6.8");
    reset();
    MPI_Alltoallv_c(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    gathered(me * EACH, "MPI-5.0 §6.8");
}

static void reductions(void)
{
    int all = 1000000 * (n * (n - 1) / 2), upto = 1000000 * (me * (me + 1) / 2);
    reset();
    MPI_Reduce_c(out, in, EACH, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    if (me == root)
        CHECK_EQUAL(in[EACH - 1], all + n * (EACH - 1), "MPI-5.0 §6.9.1");
    reset();
    MPI_Allreduce_c(out, in, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(in[EACH - 1], all + n * (EACH - 1), "MPI-5.0 §6.9.6");
    reset();
    MPI_Scan_c(out, in, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(in[EACH - 1], upto + (me + 1) * (EACH - 1), "MPI-5.0 §6.11.1");
    reset();
    MPI_Exscan_c(out, in, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me > 0)
        CHECK_EQUAL(in[EACH - 1], upto - 1000000 * me + me * (EACH - 1), "MPI-5.0 §6.11.2");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "large_count");
    n = size_of_world;
    me = rank_of_world;
    out = need((size_t)(n * EACH) * sizeof(int));
    in = need((size_t)(n * EACH) * sizeof(int));
    counts = need((size_t)n * sizeof *counts);
    places = need((size_t)n * sizeof *places);
    for (int r = 0; r < n; r++) {
        counts[r] = EACH;
        places[r] = r * EACH;
    }
    for (root = 0; root < n; root++) {
        movement();
        reductions();
    }
    free(out);
    free(in);
    free(counts);
    free(places);
    return check_finish();
}
