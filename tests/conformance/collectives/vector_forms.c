/* MPI_Gatherv, MPI_Scatterv, MPI_Allgatherv and MPI_Alltoallv: unequal and zero counts, gaps between the
 * blocks, blocks in no order. */
#include "shapes.h"

static int *sizes, *places, total;

/* Where each rank's block lies: counts from `unit`, every third one empty, in reversed order with gaps. */
static void lay_out(int unit, int salt)
{
    int n = size_of_world, at = 1;
    for (int r = n - 1; r >= 0; r--) {
        sizes[r] = (r + salt) % 3 == 2 ? 0 : unit * (1 + (r + salt) % 4);
        places[r] = at;
        at += sizes[r] + 1;
    }
    total = at;
}

/* The element before each block and the one at the end are nobody's. */
static void gaps_kept(const int *buffer, const struct shape *shape, const char *clause)
{
    CHECK(is_untouched(buffer, shape, 0, 1) && is_untouched(buffer, shape, total - 1, 1), clause);
    for (int r = 0; r < size_of_world; r++)
        CHECK(is_untouched(buffer, shape, places[r] + sizes[r], 1), clause);
}

static void gatherv(const struct shape *shape, int unit, int root, int in_place)
{
    int me = rank_of_world, at_root = me == root;
    lay_out(unit, root);
    int *out = shape_buffer(shape, sizes[me]), *in = shape_buffer(shape, at_root ? total : 0);
    put_block(out, shape, 0, sizes[me], 300 + me);
    if (at_root && in_place)
        put_block(in, shape, places[me], sizes[me], 300 + me);
    MPI_Gatherv(at_root && in_place ? MPI_IN_PLACE : out, sizes[me], shape->type, at_root ? in : NULL,
                at_root ? sizes : NULL, at_root ? places : NULL, at_root ? shape->type : MPI_DATATYPE_NULL,
                root, MPI_COMM_WORLD);
    if (at_root) {
        for (int r = 0; r < size_of_world; r++)
            CHECK(has_block(in, shape, places[r], sizes[r], 300 + r), "MPI-5.0 §6.5", "%s", shape->name);
        gaps_kept(in, shape, "MPI-5.0 §6.5");
    }
    free(out);
    free(in);
}

static void scatterv(const struct shape *shape, int unit, int root, int in_place)
{
    int me = rank_of_world, at_root = me == root;
    lay_out(unit, root + 1);
    int *out = shape_buffer(shape, at_root ? total : 0), *in = shape_buffer(shape, sizes[me] + 1);
    for (int r = 0; at_root && r < size_of_world; r++)
        put_block(out, shape, places[r], sizes[r], 400 + r);
    MPI_Scatterv(at_root ? out : NULL, at_root ? sizes : NULL, at_root ? places : NULL,
                 at_root ? shape->type : MPI_DATATYPE_NULL, at_root && in_place ? MPI_IN_PLACE : in,
                 sizes[me], shape->type, root, MPI_COMM_WORLD);
    if (!(at_root && in_place))
        CHECK(has_block(in, shape, 0, sizes[me], 400 + me), "MPI-5.0 §6.6", "%s", shape->name);
    CHECK(is_untouched(in, shape, sizes[me], 1), "MPI-5.0 §6.6");
    free(out);
    free(in);
}

static void allgatherv(const struct shape *shape, int unit, int in_place)
{
    int me = rank_of_world;
    lay_out(unit, 2);
    int *out = shape_buffer(shape, sizes[me]), *in = shape_buffer(shape, total);
    put_block(in_place ? in : out, shape, in_place ? places[me] : 0, sizes[me], 500 + me);
    if (in_place)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, sizes, places, shape->type, MPI_COMM_WORLD);
    else
        MPI_Allgatherv(out, sizes[me], shape->type, in, sizes, places, shape->type, MPI_COMM_WORLD);
    for (int r = 0; r < size_of_world; r++)
        CHECK(has_block(in, shape, places[r], sizes[r], 500 + r), "MPI-5.0 §6.7", "%s", shape->name);
    gaps_kept(in, shape, "MPI-5.0 §6.7");
    free(out);
    free(in);
}

/* What rank a sends to rank b; symmetric when in place, where both directions have one size. */
static int pair_count(int a, int b, int unit, int in_place)
{
    if (in_place)
        return (a + b) % 3 == 2 ? 0 : unit * (1 + (a + b) % 2);
    return (a + 2 * b) % 4 == 3 ? 0 : unit * (1 + (2 * a + b) % 3);
}

static void alltoallv(const struct shape *shape, int unit, int in_place)
{
    int me = rank_of_world, n = size_of_world, out_total = 0;
    int *out_sizes = need((size_t)n * sizeof(int)), *out_places = need((size_t)n * sizeof(int));
    total = 1;
    for (int r = n - 1; r >= 0; r--) {
        sizes[r] = pair_count(r, me, unit, in_place);
        places[r] = total;
        total += sizes[r] + 1;
    }
    for (int r = 0; r < n; r++) {
        out_sizes[r] = pair_count(me, r, unit, in_place);
        out_places[r] = out_total;
        out_total += out_sizes[r] + 2;
    }
    int *out = shape_buffer(shape, out_total), *in = shape_buffer(shape, total);
    for (int r = 0; r < n; r++)
        put_block(in_place ? in : out, shape, in_place ? places[r] : out_places[r], out_sizes[r],
                  2000 + me * n + r);
    if (in_place)
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, sizes, places, shape->type,
                      MPI_COMM_WORLD);
    else
        MPI_Alltoallv(out, out_sizes, out_places, shape->type, in, sizes, places, shape->type,
                      MPI_COMM_WORLD);
    for (int r = 0; r < n; r++)
        CHECK(has_block(in, shape, places[r], sizes[r], 2000 + r * n + me), "MPI-5.0 §6.8", "%s from %d",
              shape->name, r);
    gaps_kept(in, shape, "MPI-5.0 §6.8");
    free(out);
    free(in);
    free(out_sizes);
    free(out_places);
}

int main(int argc, char **argv)
{
    static const int units[] = { 0, 1, 7, 300, 12000 };
    check_start(&argc, &argv, "vector_forms");
    create_shapes();
    sizes = need((size_t)size_of_world * sizeof(int));
    places = need((size_t)size_of_world * sizeof(int));
    for (int s = 0; s < SHAPES; s++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            for (int in_place = 0; in_place < 2; in_place++) {
                for (int root = 0; root < size_of_world; root++) {
                    gatherv(&shapes[s], units[u], root, in_place);
                    scatterv(&shapes[s], units[u], root, in_place);
                }
                allgatherv(&shapes[s], units[u], in_place);
                alltoallv(&shapes[s], units[u], in_place);
            }
    free(sizes);
    free(places);
    free_shapes();
    return check_finish();
}
