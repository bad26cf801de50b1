/* MPI_Gather, MPI_Scatter, MPI_Allgather and MPI_Alltoall: every root, every shape, in place or not. */
#include "shapes.h"

static const int counts[] = { 0, 1, 2, 5, 64, 1000, 20011 };

static void gather(const struct shape *shape, int count, int root, int in_place)
{
    int me = rank_of_world, n = size_of_world, at_root = me == root;
    int *out = shape_buffer(shape, count), *in = shape_buffer(shape, at_root ? n * count + 1 : 0);
    put_block(out, shape, 0, count, me);
    if (at_root && in_place)
        put_block(in, shape, me * count, count, me);
    /* The receive arguments mean something only at the root. */
    MPI_Gather(at_root && in_place ? MPI_IN_PLACE : out, count, shape->type, at_root ? in : NULL,
               at_root ? count : -1, at_root ? shape->type : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    if (at_root) {
        for (int r = 0; r < n; r++)
            CHECK(has_block(in, shape, r * count, count, r), "MPI-5.0 §6.5", "%s x %d of %d at %d",
                  shape->name, count, r, root);
        CHECK(gaps_untouched(in, shape, n * count) && is_untouched(in, shape, n * count, 1),
              "MPI-5.0 §6.5");
    }
    free(out);
    free(in);
}

static void scatter(const struct shape *shape, int count, int root, int in_place)
{
    int me = rank_of_world, n = size_of_world, at_root = me == root;
    int *out = shape_buffer(shape, at_root ? n * count : 0), *in = shape_buffer(shape, count + 1);
    for (int r = 0; at_root && r < n; r++)
        put_block(out, shape, r * count, count, 100 + r);
    MPI_Scatter(at_root ? out : NULL, at_root ? count : -1, at_root ? shape->type : MPI_DATATYPE_NULL,
                at_root && in_place ? MPI_IN_PLACE : in, count, shape->type, root, MPI_COMM_WORLD);
    if (at_root && in_place)
        CHECK(is_untouched(in, shape, 0, count + 1), "MPI-5.0 §6.6: in place");
    else
        CHECK(has_block(in, shape, 0, count, 100 + me) && is_untouched(in, shape, count, 1),
              "MPI-5.0 §6.6", "%s x %d from %d", shape->name, count, root);
    for (int r = 0; at_root && r < n; r++)
        CHECK(has_block(out, shape, r * count, count, 100 + r), "MPI-5.0 §6.6: the source stays");
    free(out);
    free(in);
}

static void allgather(const struct shape *shape, int count, int in_place)
{
    int me = rank_of_world, n = size_of_world;
    int *out = shape_buffer(shape, count), *in = shape_buffer(shape, n * count + 1);
    put_block(out, shape, 0, count, 200 + me);
    if (in_place) {
        put_block(in, shape, me * count, count, 200 + me);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, shape->type, MPI_COMM_WORLD);
    } else {
        MPI_Allgather(out, count, shape->type, in, count, shape->type, MPI_COMM_WORLD);
    }
    for (int r = 0; r < n; r++)
        CHECK(has_block(in, shape, r * count, count, 200 + r), "MPI-5.0 §6.7", "%s x %d of %d",
              shape->name, count, r);
    CHECK(gaps_untouched(in, shape, n * count) && is_untouched(in, shape, n * count, 1), "MPI-5.0 §6.7");
    free(out);
    free(in);
}

static void alltoall(const struct shape *shape, int count, int in_place)
{
    int me = rank_of_world, n = size_of_world;
    int *out = shape_buffer(shape, n * count), *in = shape_buffer(shape, n * count + 1);
    int *source = in_place ? in : out;
    for (int r = 0; r < n; r++)
        put_block(source, shape, r * count, count, 1000 + me * n + r);
    if (in_place)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, shape->type, MPI_COMM_WORLD);
    else
        MPI_Alltoall(out, count, shape->type, in, count, shape->type, MPI_COMM_WORLD);
    for (int r = 0; r < n; r++)
        CHECK(has_block(in, shape, r * count, count, 1000 + r * n + me), "MPI-5.0 §6.8", "%s x %d of %d",
              shape->name, count, r);
    CHECK(gaps_untouched(in, shape, n * count) && is_untouched(in, shape, n * count, 1), "MPI-5.0 §6.8");
    free(out);
    free(in);
}

/* What one side sends as many int, the other receives as few larger elements. */
static void different_types(void)
{
    int me = rank_of_world, n = size_of_world, out[6];
    int *in = need((size_t)(6 * n) * sizeof(int));
    for (int k = 0; k < 6; k++)
        out[k] = 10 * me + k;
    MPI_Allgather(out, 6, MPI_INT, in, 2, shapes[1].type, MPI_COMM_WORLD);
    for (int i = 0; i < 6 * n; i++)
        CHECK_EQUAL(in[i], 10 * (i / 6) + i % 6, "MPI-5.0 §6.7: type signatures");
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "gather_scatter");
    create_shapes();
    for (int s = 0; s < SHAPES; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int in_place = 0; in_place < 2; in_place++) {
                for (int root = 0; root < size_of_world; root++) {
                    gather(&shapes[s], counts[c], root, in_place);
                    scatter(&shapes[s], counts[c], root, in_place);
                }
                allgather(&shapes[s], counts[c], in_place);
                alltoall(&shapes[s], counts[c], in_place);
            }
    different_types();
    free_shapes();
    return check_finish();
}
