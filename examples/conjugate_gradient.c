/* Conjugate gradients on a 27-point stencil in three dimensions, the problem of the HPCG benchmark: the unknowns are a
 * grid of points, each coupled to all 26 around it. The right-hand side is made so that the answer is known.
 *
 *     mpicc conjugate_gradient.c -o conjugate_gradient -lm && mpiexec -n 4 conjugate_gradient [POINTS]
 *
 * The ranks stand in a Cartesian grid, each with a cube of POINTS^3 points and a border of one point, the halo. Corners
 * of the halo come from diagonal neighbours, without a message of their own: first planes go along x, then along y with
 * the halo that x has filled, then along z with both. MPI_Type_create_subarray describes the planes, nobody packs.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 500, DIAGONAL = 26 };
static const double TOLERANCE = 1e-10;

static int n; /* points of a rank along each axis */

struct halo {
    MPI_Comm grid;
    int neighbour[3][2];           /* along each axis, below and above */
    MPI_Datatype out[3][2], in[3][2];
};

static size_t points(void) { return (size_t)(n + 2) * (n + 2) * (n + 2); }
static size_t at(int z, int y, int x) { return ((size_t)z * (n + 2) + y) * (n + 2) + x; }

static double *create_grid(void)
{
    double *grid = calloc(points(), sizeof *grid);
    if (!grid)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return grid;
}

/* A plane across `axis`: one point thick, with the halos of the axes that were exchanged before. */
static MPI_Datatype plane(int axis, int position)
{
    int sizes[3] = {n + 2, n + 2, n + 2}, extents[3], starts[3];
    for (int other = 0; other < 3; other++) {
        int done = other > axis; /* x is the last index and the first axis to be exchanged */
        extents[other] = done ? n + 2 : n;
        starts[other] = done ? 0 : 1;
    }
    extents[axis] = 1;
    starts[axis] = position;
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, extents, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void create_halo(struct halo *halo)
{
    int size, dims[3] = {0}, open[3] = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, open, 1, &halo->grid);
    for (int axis = 0; axis < 3; axis++) {
        MPI_Cart_shift(halo->grid, axis, 1, &halo->neighbour[axis][0], &halo->neighbour[axis][1]);
        for (int side = 0; side < 2; side++) {
            halo->out[axis][side] = plane(axis, side ? n : 1);
            halo->in[axis][side] = plane(axis, side ? n + 1 : 0);
        }
    }
}

static void free_halo(struct halo *halo)
{
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            MPI_Type_free(&halo->out[axis][side]);
            MPI_Type_free(&halo->in[axis][side]);
        }
    MPI_Comm_free(&halo->grid);
}

/* At the border of the whole grid the neighbour is MPI_PROC_NULL, and the halo stays zero. */
static void exchange(const struct halo *halo, double *grid)
{
    for (int axis = 2; axis >= 0; axis--) {
        MPI_Request requests[4];
        for (int side = 0; side < 2; side++) {
            MPI_Irecv(grid, 1, halo->in[axis][side], halo->neighbour[axis][side], !side, halo->grid, &requests[side]);
            MPI_Isend(grid, 1, halo->out[axis][side], halo->neighbour[axis][side], side, halo->grid, &requests[2 + side]);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

/* out = A in: 26 times each point less all its neighbours. */
static void multiply(const struct halo *halo, double *in, double *out)
{
    exchange(halo, in);
    for (int z = 1; z <= n; z++)
        for (int y = 1; y <= n; y++)
            for (int x = 1; x <= n; x++) {
                double sum = (DIAGONAL + 1) * in[at(z, y, x)];
                for (int dz = -1; dz <= 1; dz++)
                    for (int dy = -1; dy <= 1; dy++)
                        for (int dx = -1; dx <= 1; dx++)
                            sum -= in[at(z + dz, y + dy, x + dx)];
                out[at(z, y, x)] = sum;
            }
}

#define FOR_ALL(i)                              \
    for (int z_ = 1; z_ <= n; z_++)             \
        for (int y_ = 1; y_ <= n; y_++)         \
            for (size_t i = at(z_, y_, 1); i <= at(z_, y_, n); i++)

static double dot(const struct halo *halo, const double *a, const double *b)
{
    double mine = 0, all;
    FOR_ALL (i)
        mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, halo->grid);
    return all;
}

/* a = b + factor c */
static void combine(double *a, const double *b, double factor, const double *c)
{
    FOR_ALL (i)
        a[i] = b[i] + factor * c[i];
}

/* Solves A x = b from x = 0; the number of steps it took, or -1. */
static int solve(const struct halo *halo, const double *b, double *x)
{
    double *residual = create_grid(), *direction = create_grid(), *image = create_grid();
    int step = 0;
    memcpy(residual, b, points() * sizeof *b);
    memcpy(direction, b, points() * sizeof *b);
    double norm = dot(halo, residual, residual), goal = norm * TOLERANCE * TOLERANCE;
    for (; norm > goal && step < MAX_STEPS; step++) {
        multiply(halo, direction, image);
        double length = norm / dot(halo, direction, image);
        combine(x, x, length, direction);
        combine(residual, residual, -length, image);
        double before = norm;
        norm = dot(halo, residual, residual);
        combine(direction, residual, norm / before, direction);
    }
    free(residual), free(direction), free(image);
    return norm > goal ? -1 : step;
}

/* The answer: a value for each point that its place in the whole grid determines. */
static void fill_answer(const struct halo *halo, double *grid)
{
    int rank, coordinates[3];
    MPI_Comm_rank(halo->grid, &rank);
    MPI_Cart_coords(halo->grid, rank, 3, coordinates);
    for (int z = 1; z <= n; z++)
        for (int y = 1; y <= n; y++)
            for (int x = 1; x <= n; x++)
                grid[at(z, y, x)] = 1 + sin(0.3 * (coordinates[0] * n + z)) * cos(0.2 * (coordinates[1] * n + y))
                                  + 0.01 * (coordinates[2] * n + x);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct halo halo;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 16;
    if (n < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    create_halo(&halo);
    double *answer = create_grid(), *b = create_grid(), *x = create_grid();
    fill_answer(&halo, answer);
    multiply(&halo, answer, b);

    double begin = MPI_Wtime(), error = 0, worst;
    int steps = solve(&halo, b, x);
    double seconds = MPI_Wtime() - begin;
    FOR_ALL (i)
        error = fmax(error, fabs(x[i] - answer[i]));
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int wrong = steps < 0 || (rank == 0 && worst > 1e-7);
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("conjugate_gradient: %d ranks, %.0f unknowns, %d steps, %.3f s, error %.1e, %s\n", size,
               (double)size * n * n * n, steps, seconds, worst, wrong ? "wrong" : "right");
    free(answer), free(b), free(x);
    free_halo(&halo);
    MPI_Finalize();
    return wrong;
}
