/* MPI_Bcast from every root, of every shape and of sizes around the boundaries of protocols. */
#include "shapes.h"

static const int counts[] = { 0, 1, 3, 16, 17, 1023, 1024, 1025, 2048, 16385, 131073, 700001 };

static void once(const struct shape *shape, int count, int root)
{
    int *buffer = shape_buffer(shape, count + 1);
    if (rank_of_world == root)
        put_block(buffer, shape, 0, count, 500 + root);
    MPI_Bcast(buffer, count, shape->type, root, MPI_COMM_WORLD);
    CHECK(has_block(buffer, shape, 0, count, 500 + root), "MPI-5.0 §6.4", "%s x %d from %d", shape->name,
          count, root);
    CHECK(gaps_untouched(buffer, shape, count), "MPI-5.0 §6.4");
    CHECK(is_untouched(buffer, shape, count, 1), "MPI-5.0 §6.4");
    free(buffer);
}

/* The root's type map differs from the others'; the signature is the same. */
static void other_type_map(int root)
{
    int contiguous[60], strided[120];
    MPI_Datatype every_second;
    MPI_Type_vector(60, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 60; i++) {
        contiguous[i] = rank_of_world == root ? i + 9 : -1;
        strided[2 * i] = strided[2 * i + 1] = -1;
    }
    if (rank_of_world == root)
        MPI_Bcast(contiguous, 60, MPI_INT, root, MPI_COMM_WORLD);
    else
        MPI_Bcast(strided, 1, every_second, root, MPI_COMM_WORLD);
    for (int i = 0; i < 60 && rank_of_world != root; i++)
        CHECK(strided[2 * i] == i + 9 && strided[2 * i + 1] == -1, "MPI-5.0 §6.4: type signatures");
    MPI_Type_free(&every_second);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "bcast");
    create_shapes();
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int root = 0; root < size_of_world; root++)
            for (int s = 0; s < SHAPES; s++)
                if (counts[c] < 100000 || root == (int)c % size_of_world)
                    once(&shapes[s], counts[c], root);
    for (int root = 0; root < size_of_world; root++)
        other_type_map(root);
    free_shapes();
    return check_finish();
}
