/* Cartesian topologies: MPI-5.0 §8.5.1, §8.5.5 to §8.5.8. Coordinates are computed here, row-major. */
#include "check.h"

static int sum_of_ones(MPI_Comm comm)
{
    int one = 1, sum = -1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

/* A grid of two dimensions asked for everything. */
static void grid(int rows, int columns, int row_period, int column_period)
{
    int dims[2] = { rows, columns }, periods[2] = { row_period, column_period }, place = -1, status = -1;
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    CHECK((comm != MPI_COMM_NULL) == (rank_of_world < rows * columns), "MPI-5.0 §8.5.1");
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
    if (comm == MPI_COMM_NULL) {
        CHECK_EQUAL(place, MPI_UNDEFINED, "MPI-5.0 §8.5.8");
        return;
    }
    CHECK_EQUAL(sum_of_ones(comm), rows * columns, "MPI-5.0 §8.5.1");
    MPI_Topo_test(comm, &status);
    CHECK_EQUAL(status, MPI_CART, "MPI-5.0 §8.5.5");
    MPI_Cartdim_get(comm, &status);
    CHECK_EQUAL(status, 2, "MPI-5.0 §8.5.5");
    int rank, got[3] = { -7, -7, -7 }, got_periods[3] = { -7, -7, -7 }, coords[3] = { -7, -7, -7 };
    MPI_Comm_rank(comm, &rank);
    CHECK_EQUAL(rank, rank_of_world, "MPI-5.0 §8.5.1: without reorder");
    CHECK_EQUAL(place, rank, "MPI-5.0 §8.5.8");
    MPI_Cart_get(comm, 3, got, got_periods, coords);
    CHECK(got[0] == rows && got[1] == columns && got_periods[0] == row_period && got_periods[1] == column_period,
          "MPI-5.0 §8.5.5");
    CHECK(coords[0] == rank / columns && coords[1] == rank % columns, "MPI-5.0 §8.5.1: row-major");
    CHECK(got[2] == -7 && got_periods[2] == -7 && coords[2] == -7, "MPI-5.0 §8.5.5");
    for (int r = 0; r < rows * columns; r++) {
        int of[2] = { -1, -1 }, back = -1;
        MPI_Cart_coords(comm, r, 2, of);
        CHECK(of[0] == r / columns && of[1] == r % columns, "MPI-5.0 §8.5.5");
        of[0] += row_period ? 2 * rows : 0;
        of[1] -= column_period ? 3 * columns : 0;
        MPI_Cart_rank(comm, of, &back);
        CHECK_EQUAL(back, r, "MPI-5.0 §8.5.5: coordinates wrap where there is a period");
    }
    for (int disp = -3; disp <= 3; disp++)
        for (int d = 0; d < 2; d++) {
            int ends[2] = { -9, -9 }, expected[2];
            MPI_Cart_shift(comm, d, disp, &ends[0], &ends[1]);
            for (int e = 0; e < 2; e++) {
                int at[2] = { rank / columns, rank % columns };
                at[d] += e ? disp : -disp;
                int outside = at[d] < 0 || at[d] >= dims[d];
                at[d] = ((at[d] % dims[d]) + dims[d]) % dims[d];
                expected[e] = outside && !periods[d] ? MPI_PROC_NULL : at[0] * columns + at[1];
            }
            CHECK(ends[0] == expected[0] && ends[1] == expected[1], "MPI-5.0 §8.5.6", "%d by %d: %d %d, not %d %d", d,
                  disp, ends[0], ends[1], expected[0], expected[1]);
        }
    MPI_Comm twin, plain;
    MPI_Comm_dup(comm, &twin);
    MPI_Topo_test(twin, &status);
    CHECK_EQUAL(status, MPI_CART, "MPI-5.0 §7.4.2: a duplicate has the topology");
    MPI_Cart_get(twin, 2, got, got_periods, coords);
    CHECK(got[0] == rows && got[1] == columns, "MPI-5.0 §7.4.2");
    MPI_Comm_free(&twin);
    MPI_Comm_split(comm, 0, 0, &plain);
    MPI_Topo_test(plain, &status);
    CHECK_EQUAL(status, MPI_UNDEFINED, "MPI-5.0 §8.5.5");
    MPI_Comm_free(&plain);
    for (int keep = 0; keep < 2; keep++) {
        int remain[2] = { keep == 0, keep == 1 }, size, one;
        MPI_Comm line;
        MPI_Cart_sub(comm, remain, &line);
        MPI_Cartdim_get(line, &one);
        MPI_Comm_rank(line, &place);
        MPI_Comm_size(line, &size);
        MPI_Cart_get(line, 1, got, got_periods, coords);
        CHECK(one == 1 && size == dims[keep] && got[0] == dims[keep] && got_periods[0] == periods[keep],
              "MPI-5.0 §8.5.7");
        CHECK(place == (keep ? rank % columns : rank / columns) && coords[0] == place, "MPI-5.0 §8.5.7");
        CHECK_EQUAL(sum_of_ones(line), dims[keep], "MPI-5.0 §8.5.7");
        MPI_Comm_free(&line);
    }
    MPI_Comm point;
    MPI_Cart_sub(comm, (int[]){ 0, 0 }, &point);
    MPI_Cartdim_get(point, &status);
    CHECK(status == 0 && sum_of_ones(point) == 1, "MPI-5.0 §8.5.7: no dimension remains");
    MPI_Comm_free(&point);
    MPI_Comm_free(&comm);
}

static void no_dimensions(void)
{
    MPI_Comm comm;
    int dims = -1, rank = -1, status = -1;
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &comm);
    CHECK((comm != MPI_COMM_NULL) == (rank_of_world == 0), "MPI-5.0 §8.5.1: one process");
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Topo_test(comm, &status);
    MPI_Cartdim_get(comm, &dims);
    CHECK(status == MPI_CART && dims == 0, "MPI-5.0 §8.5.5");
    MPI_Cart_get(comm, 0, NULL, NULL, NULL);
    MPI_Cart_coords(comm, 0, 0, NULL);
    MPI_Cart_rank(comm, NULL, &rank);
    CHECK_EQUAL(rank, 0, "MPI-5.0 §8.5.5");
    MPI_Comm_free(&comm);
}

/* The neighbours of a grid of three dimensions exchange by MPI_PROC_NULL as well. */
static void halo(void)
{
    int dims[3] = { 0, 0, 0 }, periods[3] = { 0, 1, 0 }, got, source, dest;
    MPI_Comm comm;
    MPI_Dims_create(size_of_world, 3, dims);
    CHECK_EQUAL(dims[0] * dims[1] * dims[2], size_of_world, "MPI-5.0 §8.5.2");
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &comm);
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int d = 0; d < 3; d++) {
        got = -1;
        MPI_Cart_shift(comm, d, 1, &source, &dest);
        MPI_Sendrecv(&rank, 1, MPI_INT, dest, d, &got, 1, MPI_INT, source, d, comm, MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, source == MPI_PROC_NULL ? -1 : source, "MPI-5.0 §8.5.6");
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "cart");
    for (int rows = 1; rows <= size_of_world; rows++)
        for (int columns = 1; rows * columns <= size_of_world; columns++)
            for (int periods = 0; periods < 4; periods++)
                grid(rows, columns, periods & 1, periods >> 1);
    no_dimensions();
    halo();
    return check_finish();
}
