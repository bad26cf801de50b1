/* Wrong arguments of the constructors of datatypes, and of what asks how one was made: MPI-5.0 §5.1. All are local.
 *
 * MPICH 5.0.2 checks neither subarrays nor the grid of a darray against their sizes.
 * ranks: 1 */
#include "expect.h"

static MPI_Datatype type;
static int two[2] = { 1, 1 }, zero[2] = { 0, 0 }, negative[2] = { 1, -1 };
static MPI_Aint places[2] = { 0, 8 };
static MPI_Count large_two[2] = { 1, 1 }, large_zero[2] = { 0, 0 }, large_negative[2] = { 1, -1 }, large_places[2] = { 0, 8 };

/* As MPI_Type_name reports, so does MPI_Type_name_c, whose arrays are of MPI_Count. */
#define EXPECT_ARRAYS_EITHER(expected, other, name, ...) \
    do { \
        EXPECT_EITHER(expected, other, MPI_Type_##name(__VA_ARGS__)); \
        MPI_Count *two = large_two, *zero = large_zero, *negative = large_negative, *places = large_places; \
        (void)two, (void)zero, (void)negative, (void)places; \
        EXPECT_EITHER(expected, other, MPI_Type_##name##_c(__VA_ARGS__)); \
    } while (0)
#define EXPECT_ARRAYS(expected, name, ...) EXPECT_ARRAYS_EITHER(expected, expected, name, __VA_ARGS__)

static void wrong_types(void)
{
    const uintptr_t values[] = { 0x200, 0, 0x101, 0x23f };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Datatype wrong = (MPI_Datatype)values[i], both[2] = { MPI_INT, wrong };
        int n[3], combiner, block = MPI_DISTRIBUTE_BLOCK, usual = MPI_DISTRIBUTE_DFLT_DARG, one = 1;
        MPI_Count many[4];
        EXPECT(MPI_ERR_TYPE, MPI_Type_dup(wrong, &type));
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_hvector, 1, 1, 1, wrong, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, indexed, 2, two, zero, wrong, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_hindexed, 2, two, places, wrong, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_indexed_block, 2, 1, zero, wrong, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_hindexed_block, 2, 1, places, wrong, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_struct, 2, two, places, both, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_resized, wrong, 0, 4, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_subarray, 1, two, two, zero, MPI_ORDER_C, wrong, &type);
        EXPECT_ARRAYS(MPI_ERR_TYPE, create_darray, 1, 0, 1, two, &block, &usual, &one, MPI_ORDER_C, wrong, &type);
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_envelope(wrong, &n[0], &n[1], &n[2], &combiner));
        EXPECT(MPI_ERR_TYPE, MPI_Type_get_envelope_c(wrong, &many[0], &many[1], &many[2], &many[3], &combiner));
    }
}

static void wrong_numbers(void)
{
    MPI_Datatype ints[2] = { MPI_INT, MPI_INT };
    EXPECT_ARRAYS(MPI_ERR_COUNT, create_hvector, -1, 1, 1, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_COUNT, indexed, -1, two, zero, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_COUNT, create_hindexed, -1, two, places, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_COUNT, create_indexed_block, -1, 1, zero, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_COUNT, create_hindexed_block, -1, 1, places, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_COUNT, create_struct, -1, two, places, &type, &type);
    EXPECT_ARRAYS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, create_hvector, 1, -1, 1, MPI_INT, &type);
    EXPECT_ARRAYS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, indexed, 2, negative, zero, MPI_INT, &type);
    EXPECT_ARRAYS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, create_hindexed, 2, negative, places, MPI_INT, &type);
    EXPECT_ARRAYS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, create_indexed_block, 2, -1, zero, MPI_INT, &type);
    EXPECT_ARRAYS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, create_hindexed_block, 2, -1, places, MPI_INT, &type);
    EXPECT_ARRAYS_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, create_struct, 2, negative, places, ints, &type);
}

static void arrays(void)
{
    int sizes[2] = { 4, 4 }, parts[2] = { 2, 3 }, starts[2] = { 1, 1 }, late[2] = { 1, 2 };
    int how[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC }, usual[2] = { MPI_DISTRIBUTE_DFLT_DARG, 1 };
    int grid[2] = { 2, 2 }, wrong_how[2] = { MPI_DISTRIBUTE_BLOCK, 999 }, none[2] = { MPI_DISTRIBUTE_NONE, how[1] };
    int few[2] = { 1, 1 };
    EXPECT(MPI_SUCCESS, MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray(0, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, parts, late, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, zero, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray(2, zero, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT,
                  MPI_Type_create_subarray(2, sizes, parts, negative, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, parts, starts, 999, MPI_INT, &type));
    EXPECT(MPI_SUCCESS, MPI_Type_create_darray(4, 3, 2, sizes, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray(5, 3, 2, sizes, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_RANK,
                  MPI_Type_create_darray(4, 4, 2, sizes, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray(4, 0, 2, sizes, wrong_how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray(4, 0, 2, sizes, none, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray(4, 0, 2, sizes, how, few, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray(4, 0, 2, sizes, how, usual, grid, 999, MPI_INT, &type));
}

/* The same of the forms with large counts. */
static void large_arrays(void)
{
    MPI_Count sizes[2] = { 4, 4 }, parts[2] = { 2, 3 }, starts[2] = { 1, 1 }, late[2] = { 1, 2 };
    int how[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC }, usual[2] = { MPI_DISTRIBUTE_DFLT_DARG, 1 };
    int grid[2] = { 2, 2 }, wrong_how[2] = { MPI_DISTRIBUTE_BLOCK, 999 };
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray_c(0, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray_c(2, sizes, parts, late, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray_c(2, sizes, large_zero, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray_c(2, large_zero, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray_c(2, sizes, parts, starts, 999, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray_c(2, sizes, parts, NULL, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray_c(5, 3, 2, sizes, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_RANK,
                  MPI_Type_create_darray_c(4, 4, 2, sizes, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray_c(4, 0, 2, large_zero, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray_c(4, 0, 2, sizes, wrong_how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_darray_c(4, 0, 2, NULL, how, usual, grid, MPI_ORDER_C, MPI_INT, &type));
}

static void contents(void)
{
    int values[4], n[3], combiner;
    MPI_Aint addresses[2];
    MPI_Count counts[4], many[4];
    MPI_Datatype old, large;
    EXPECT_EITHER(MPI_ERR_TYPE, MPI_ERR_ARG, MPI_Type_get_contents(MPI_INT, 0, 0, 0, values, addresses, &old));
    EXPECT(MPI_SUCCESS, MPI_Type_vector(1, 1, 1, MPI_INT, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_contents(type, 2, 0, 1, values, addresses, &old));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_contents(type, 3, 0, 0, values, addresses, &old));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&type));
    EXPECT(MPI_SUCCESS, MPI_Type_vector_c(1, 1, 1, MPI_INT, &large));
    EXPECT(MPI_ERR_TYPE, MPI_Type_get_envelope(large, &n[0], &n[1], &n[2], &combiner));
    EXPECT(MPI_ERR_TYPE, MPI_Type_get_contents(large, 3, 2, 1, values, addresses, &old));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_envelope_c(large, NULL, &many[1], &many[2], &many[3], &combiner));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_envelope_c(large, &many[0], &many[1], &many[2], &many[3], NULL));
    EXPECT(MPI_SUCCESS, MPI_Type_get_envelope_c(large, &many[0], &many[1], &many[2], &many[3], &combiner));
    /* A vector of large counts is made of three of them and a type. */
    EXPECT(MPI_ERR_ARG, MPI_Type_get_contents_c(large, 0, 0, 2, 1, values, addresses, counts, &old));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_contents_c(large, 0, 0, 3, 0, values, addresses, counts, &old));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_contents_c(large, 0, 0, 3, 1, values, addresses, NULL, &old));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_contents_c(large, 0, 0, 3, 1, values, addresses, counts, NULL));
    EXPECT_EITHER(MPI_ERR_TYPE, MPI_ERR_ARG, MPI_Type_get_contents_c(MPI_INT, 0, 0, 0, 0, values, addresses, counts, &old));
    EXPECT(MPI_ERR_TYPE, MPI_Type_get_contents_c(MPI_DATATYPE_NULL, 0, 0, 3, 1, values, addresses, counts, &old));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&large));
}

static void null_pointers(void)
{
    EXPECT(MPI_ERR_ARG, MPI_Type_dup(MPI_INT, NULL));
    EXPECT_ARRAYS(MPI_ERR_ARG, indexed, 2, NULL, zero, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_ARG, indexed, 2, two, NULL, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_ARG, indexed, 2, two, zero, MPI_INT, NULL);
    EXPECT_ARRAYS(MPI_ERR_ARG, create_hvector, 1, 1, 1, MPI_INT, NULL);
    EXPECT_ARRAYS(MPI_ERR_ARG, create_hindexed, 2, NULL, places, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_ARG, create_indexed_block, 2, 1, NULL, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_ARG, create_hindexed_block, 2, 1, NULL, MPI_INT, &type);
    EXPECT_ARRAYS(MPI_ERR_ARG, create_resized, MPI_INT, 0, 4, NULL);
    EXPECT_ARRAYS(MPI_ERR_ARG, create_struct, 2, two, places, NULL, &type);
    EXPECT(MPI_SUCCESS, MPI_Type_create_struct(0, NULL, NULL, NULL, &type));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_subarray(2, NULL, two, zero, MPI_ORDER_C, MPI_INT, &type));
}

static void fortran(void)
{
    MPI_Datatype real;
    EXPECT(MPI_ERR_ARG, MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_f90_real(1000, MPI_UNDEFINED, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_f90_complex(MPI_UNDEFINED, 100000, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_f90_integer(1000, &type));
    EXPECT(MPI_SUCCESS, MPI_Type_create_f90_real(6, 30, &real));
    EXPECT(MPI_ERR_TYPE, MPI_Type_free(&real));
    EXPECT(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type));
    EXPECT(MPI_ERR_ARG, MPI_Type_match_size(999, 4, &type));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "datatype_constructors");
    wrong_types();
    wrong_numbers();
    arrays();
    large_arrays();
    contents();
    null_pointers();
    fortran();
    return expect_finish();
}
