/* Large collectives, around the boundaries between algorithms and beyond them. */
#include "check.h"

static const int counts[] = { 513, 8191, 65537, 400001 };

static void reductions(int count)
{
    double *in = need((size_t)count * sizeof(double)), *out = need((size_t)count * sizeof(double));
    int ranks = size_of_world, sum_of_ranks = ranks * (ranks - 1) / 2;
    for (int i = 0; i < count; i++)
        in[i] = rank_of_world + i % 1000;
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK(out[i] == sum_of_ranks + (double)ranks * (i % 1000), "MPI-5.0 §6.9.6", "element %d", i);
    memset(out, 0, (size_t)count * sizeof(double));
    int root = count % ranks;
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
    for (int i = 0; i < count && rank_of_world == root; i++)
        CHECK(out[i] == ranks - 1 + i % 1000, "MPI-5.0 §6.9.1", "element %d", i);
    MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int upto = rank_of_world + 1;
    for (int i = 0; i < count; i++)
        CHECK(out[i] == rank_of_world * upto / 2 + (double)upto * (i % 1000), "MPI-5.0 §6.11.1");
    free(in);
    free(out);
}

static void movement(int count)
{
    int n = size_of_world, each = count / n + 1;
    int *out = need((size_t)(each * n) * sizeof(int)), *in = need((size_t)(each * n) * sizeof(int));
    for (int i = 0; i < each * n; i++)
        out[i] = rank_of_world * 10000000 + i;
    MPI_Alltoall(out, each, MPI_INT, in, each, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < each * n; i++)
        CHECK(in[i] == i / each * 10000000 + rank_of_world * each + i % each, "MPI-5.0 §6.8");
    MPI_Allgather(out, each, MPI_INT, in, each, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < each * n; i++)
        CHECK(in[i] == i / each * 10000000 + i % each, "MPI-5.0 §6.7");
    int root = count % n;
    MPI_Gather(out, each, MPI_INT, in, each, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < each * n && rank_of_world == root; i++)
        CHECK(in[i] == i / each * 10000000 + i % each, "MPI-5.0 §6.5");
    MPI_Scatter(out, each, MPI_INT, in, each, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < each; i++)
        CHECK(in[i] == root * 10000000 + rank_of_world * each + i, "MPI-5.0 §6.6");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "large");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        reductions(counts[c]);
        movement(counts[c]);
    }
    return check_finish();
}
