/* All 26 neighbours in three dimensions, as LULESH and other codes on blocks of a mesh exchange their borders: six
 * faces, twelve edges, eight corners, each by a message of its own, all under way at once.
 *
 *     mpicc neighbours26.c -o neighbours26 -lm && mpiexec -n 8 neighbours26
 *
 * The messages are persistent: made once, started in each step. A step replaces every value by the mean of the 27 around
 * it, on a periodic grid; a wave is an eigenvector of that, so what is left of it after any number of steps is known.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20, WIDTH = N + 2, STEPS = 10, NEIGHBOURS = 26 };

typedef double block[WIDTH][WIDTH][WIDTH];

/* The points of a block towards one direction: its outermost ones, or the halo beyond them. */
static MPI_Datatype border(const int direction[3], int halo)
{
    int sizes[3] = {WIDTH, WIDTH, WIDTH}, extents[3], starts[3];
    for (int axis = 0; axis < 3; axis++) {
        extents[axis] = direction[axis] ? 1 : N;
        starts[axis] = direction[axis] > 0 ? N + halo : 1 - halo * (direction[axis] < 0);
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, extents, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The rank in a direction; around the whole grid it is periodic. */
static int rank_towards(MPI_Comm grid, const int own[3], const int direction[3])
{
    int coordinates[3], rank;
    for (int axis = 0; axis < 3; axis++)
        coordinates[axis] = own[axis] + direction[axis];
    MPI_Cart_rank(grid, coordinates, &rank);
    return rank;
}

/* A send and a receive for each neighbour. On a small grid one rank is several neighbours, even to itself: the tag says
 * which way a message travels. */
static void create_exchange(block values, MPI_Comm grid, const int own[3], MPI_Request requests[2 * NEIGHBOURS])
{
    int made = 0;
    for (int code = 0; code < 27; code++) {
        int there[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
        if (code == 13)
            continue; /* the block itself */
        int rank = rank_towards(grid, own, there), backwards = 26 - code;
        MPI_Datatype out = border(there, 0), in = border(there, 1);
        MPI_Recv_init(values, 1, in, rank, backwards, grid, &requests[made++]);
        MPI_Send_init(values, 1, out, rank, code, grid, &requests[made++]);
        MPI_Type_free(&out);
        MPI_Type_free(&in);
    }
}

static double mean(block values, int z, int y, int x)
{
    double sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += values[z + dz][y + dy][x + dx];
    return sum / 27;
}

#define FOR_ALL(z, y, x)            \
    for (int z = 1; z <= N; z++)    \
        for (int y = 1; y <= N; y++) \
            for (int x = 1; x <= N; x++)

/* The inner points need no halo: they are computed while the messages travel. */
static int is_inner(int z, int y, int x) { return z > 1 && z < N && y > 1 && y < N && x > 1 && x < N; }

static void step(block values, block next, MPI_Request requests[2 * NEIGHBOURS])
{
    MPI_Startall(2 * NEIGHBOURS, requests);
    FOR_ALL (z, y, x)
        if (is_inner(z, y, x))
            next[z][y][x] = mean(values, z, y, x);
    MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
    FOR_ALL (z, y, x)
        if (!is_inner(z, y, x))
            next[z][y][x] = mean(values, z, y, x);
    FOR_ALL (z, y, x)
        values[z][y][x] = next[z][y][x];
}

int main(int argc, char **argv)
{
    int rank, size, dims[3] = {0}, periodic[3] = {1, 1, 1}, own[3];
    MPI_Comm grid;
    MPI_Request requests[2 * NEIGHBOURS];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 3, own);

    static block values, next, start;
    double k[3], factor = 1; /* of the wave, one to three periods along the axes; what a step leaves of it */
    for (int axis = 0; axis < 3; axis++) {
        k[axis] = 2 * acos(-1) * (axis + 1) / (dims[axis] * N);
        factor *= (1 + 2 * cos(k[axis])) / 3;
    }
    FOR_ALL (z, y, x)
        values[z][y][x] = start[z][y][x] =
            cos(k[0] * (own[0] * N + z) + k[1] * (own[1] * N + y) + k[2] * (own[2] * N + x));

    create_exchange(values, grid, own, requests);
    double begin = MPI_Wtime();
    for (int i = 0; i < STEPS; i++)
        step(values, next, requests);
    double seconds = MPI_Wtime() - begin;

    double error = 0, left = pow(factor, STEPS);
    FOR_ALL (z, y, x)
        error = fmax(error, fabs(values[z][y][x] - left * start[z][y][x]));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, grid);
    int wrong = error > 1e-12;
    if (rank == 0)
        printf("neighbours26: %d x %d x %d blocks of %d^3, %d steps, %.3f s, %.2e of the wave left, error %.1e, %s\n",
               dims[0], dims[1], dims[2], N, STEPS, seconds, left, error, wrong ? "wrong" : "right");
    for (int i = 0; i < 2 * NEIGHBOURS; i++)
        MPI_Request_free(&requests[i]);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong;
}
