/* Wrong arguments of datatype calls: MPI-5.0 §5.1. All are local.
 *
 * MPICH 5.0.2 crashes on the null pointers of commit and free.
 * ranks: 1 */
#include "expect.h"

static int value;
static MPI_Count big;
static MPI_Aint lower, extent;
static MPI_Count big_lower, big_extent;
static MPI_Datatype type;

static void wrong_types(void)
{
    const uintptr_t values[] = { 0x200, 0, 0x101, 0x21, 0x23f, 0xfff };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Datatype wrong = (MPI_Datatype)values[i];
        EXPECT(MPI_ERR_TYPE, MPI_Type_size(wrong, &value));
        EXPECT(MPI_ERR_TYPE, MPI_Type_size_c(wrong, &big));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_extent(wrong, &lower, &extent));
        EXPECT(MPI_ERR_TYPE, MPI_Type_size_x(wrong, &big));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_extent_c(wrong, &big_lower, &big_extent));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_extent_x(wrong, &big_lower, &big_extent));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_true_extent(wrong, &lower, &extent));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_true_extent_c(wrong, &big_lower, &big_extent));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_true_extent_x(wrong, &big_lower, &big_extent));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_value_index(wrong, MPI_INT, &type));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_FLOAT, wrong, &type));
        EXPECT_COUNTS(MPI_ERR_TYPE, Type_contiguous, 1, wrong, &type);
        EXPECT_COUNTS(MPI_ERR_TYPE, Type_vector, 1, 1, 1, wrong, &type);
        EXPECT(MPI_ERR_TYPE, MPI_Type_commit(&wrong));
        EXPECT(MPI_ERR_TYPE, MPI_Type_free(&wrong));
    }
}

static void wrong_numbers(void)
{
    EXPECT_COUNTS(MPI_ERR_COUNT, Type_contiguous, -1, MPI_INT, &type);
    EXPECT_COUNTS(MPI_ERR_COUNT, Type_vector, -1, 1, 1, MPI_INT, &type);
    EXPECT_COUNTS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, Type_vector, 1, -1, 1, MPI_INT, &type);
}

static void predefined_are_not_freed(void)
{
    MPI_Datatype integer = MPI_INT;
    EXPECT(MPI_ERR_TYPE, MPI_Type_free(&integer));
    EXPECT(MPI_SUCCESS, MPI_Type_commit(&integer));
    EXPECT(MPI_SUCCESS, MPI_Type_size(MPI_INT, &value));
}

static void null_pointers(void)
{
    EXPECT(MPI_ERR_ARG, MPI_Type_size(MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_size_c(MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_size_x(MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_extent(MPI_INT, NULL, &extent));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_extent(MPI_INT, &lower, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_extent_c(MPI_INT, NULL, &big_extent));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_extent_x(MPI_INT, &big_lower, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_true_extent(MPI_INT, NULL, &extent));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_true_extent_c(MPI_INT, &big_lower, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_true_extent_x(MPI_INT, NULL, &big_extent));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, NULL));
    EXPECT_COUNTS(MPI_ERR_ARG, Type_contiguous, 1, MPI_INT, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Type_vector, 1, 1, 1, MPI_INT, NULL);
    EXPECT(MPI_ERR_ARG, MPI_Get_address(&value, NULL));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TYPE, MPI_Type_commit(NULL));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TYPE, MPI_Type_free(NULL));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "datatype_arguments");
    wrong_numbers();
    predefined_are_not_freed();
    null_pointers();
    wrong_types();
    return expect_finish();
}
