/* Heat on a square plate: a 2-D five-point stencil with halo exchange, checked against one process doing it all.
 *
 *     mpicc stencil.c -o stencil && mpiexec -n 4 stencil
 *
 * The plate is cut into rows x columns blocks, one per rank. Each block has a border of one cell, the halo, that holds
 * copies of its neighbours' edges. A column is not contiguous in memory: MPI_Type_vector describes it, nobody packs.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 50, BLOCK_ROWS = 48, BLOCK_COLUMNS = 64 };

/* A plate of height x width cells and its halo, row by row. The outer border stays at the starting value. */
static double *create_plate(int height, int width) { return calloc((size_t)(height + 2) * (width + 2), sizeof(double)); }
static size_t at(int row, int column, int width) { return (size_t)row * (width + 2) + column; }

static double start(int row, int column) { return sin(0.1 * row) * cos(0.07 * column); }

static void fill(double *plate, int height, int width, int first_row, int first_column)
{
    for (int row = 1; row <= height; row++)
        for (int column = 1; column <= width; column++)
            plate[at(row, column, width)] = start(first_row + row, first_column + column);
}

static void step(const double *old, double *new, int height, int width)
{
    for (int row = 1; row <= height; row++)
        for (int column = 1; column <= width; column++)
            new[at(row, column, width)] =
                0.2 * (old[at(row, column, width)] + old[at(row - 1, column, width)] + old[at(row + 1, column, width)] +
                       old[at(row, column - 1, width)] + old[at(row, column + 1, width)]);
}

/* Sends the four edges and receives the four halos. At the plate's border the neighbour is MPI_PROC_NULL, and sending
 * there or receiving from there does nothing: no special cases. */
static void exchange(double *plate, const int neighbour[4], MPI_Datatype row_type, MPI_Datatype column_type)
{
    enum { NORTH, SOUTH, WEST, EAST };
    const int w = BLOCK_COLUMNS, h = BLOCK_ROWS;
    const size_t edge[4] = {at(1, 1, w), at(h, 1, w), at(1, 1, w), at(1, w, w)};
    const size_t halo[4] = {at(0, 1, w), at(h + 1, 1, w), at(1, 0, w), at(1, w + 1, w)};
    const int opposite[4] = {SOUTH, NORTH, EAST, WEST};
    MPI_Request requests[8];

    for (int side = 0; side < 4; side++) {
        MPI_Datatype type = side == NORTH || side == SOUTH ? row_type : column_type;
        /* What comes from the north was sent southwards: the tag is the direction of travel. */
        MPI_Irecv(&plate[halo[side]], 1, type, neighbour[side], opposite[side], MPI_COMM_WORLD, &requests[side]);
        MPI_Isend(&plate[edge[side]], 1, type, neighbour[side], side, MPI_COMM_WORLD, &requests[4 + side]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* The most nearly square grid of exactly `size` blocks. */
    int rows = (int)sqrt(size);
    while (size % rows)
        rows--;
    int columns = size / rows, row = rank / columns, column = rank % columns;
    int neighbour[4] = {row > 0 ? rank - columns : MPI_PROC_NULL, row < rows - 1 ? rank + columns : MPI_PROC_NULL,
                        column > 0 ? rank - 1 : MPI_PROC_NULL, column < columns - 1 ? rank + 1 : MPI_PROC_NULL};

    MPI_Datatype row_type, column_type;
    MPI_Type_contiguous(BLOCK_COLUMNS, MPI_DOUBLE, &row_type);
    MPI_Type_vector(BLOCK_ROWS, 1, BLOCK_COLUMNS + 2, MPI_DOUBLE, &column_type);
    MPI_Type_commit(&row_type);
    MPI_Type_commit(&column_type);

    double *old = create_plate(BLOCK_ROWS, BLOCK_COLUMNS), *new = create_plate(BLOCK_ROWS, BLOCK_COLUMNS);
    fill(old, BLOCK_ROWS, BLOCK_COLUMNS, row * BLOCK_ROWS, column * BLOCK_COLUMNS);
    for (int i = 0; i < STEPS; i++) {
        exchange(old, neighbour, row_type, column_type);
        step(old, new, BLOCK_ROWS, BLOCK_COLUMNS);
        double *swap = old; old = new; new = swap;
    }

    /* Every rank computes the whole plate by itself and compares its block. */
    int height = rows * BLOCK_ROWS, width = columns * BLOCK_COLUMNS, wrong = 0, wrong_anywhere;
    double *whole = create_plate(height, width), *next = create_plate(height, width);
    fill(whole, height, width, 0, 0);
    for (int i = 0; i < STEPS; i++) {
        step(whole, next, height, width);
        double *swap = whole; whole = next; next = swap;
    }
    for (int r = 1; r <= BLOCK_ROWS; r++)
        for (int c = 1; c <= BLOCK_COLUMNS; c++) {
            double expected = whole[at(row * BLOCK_ROWS + r, column * BLOCK_COLUMNS + c, width)];
            wrong += fabs(old[at(r, c, BLOCK_COLUMNS)] - expected) > 1e-12;
        }
    MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("stencil: %d x %d blocks, %d steps, %s\n", rows, columns, STEPS, wrong_anywhere ? "wrong" : "right");

    MPI_Type_free(&row_type); MPI_Type_free(&column_type);
    free(old); free(new); free(whole); free(next);
    MPI_Finalize();
    return wrong_anywhere != 0;
}
