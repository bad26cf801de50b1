/* Wrong arguments of group calls: MPI-5.0 §7.3. All are local.
 *
 * MPICH 5.0.2 takes a rank twice and crashes on null arrays.
 * ranks: 1,2 */
#include "expect.h"

static int value;
static MPI_Group result;

static void wrong_groups(MPI_Group world)
{
    const uintptr_t values[] = { 0x108, 0, 0x101, 0x10a, 0x209, 0xfff };
    int rank = 0, range[1][3] = { { 0, 0, 1 } };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Group wrong = (MPI_Group)values[i];
        EXPECT(MPI_ERR_GROUP, MPI_Group_size(wrong, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_rank(wrong, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_compare(wrong, world, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_compare(world, wrong, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_translate_ranks(wrong, 1, &rank, world, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_translate_ranks(world, 1, &rank, wrong, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_union(wrong, world, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_union(world, wrong, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_intersection(wrong, world, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_difference(world, wrong, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_incl(wrong, 1, &rank, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_excl(wrong, 1, &rank, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_range_incl(wrong, 1, range, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_range_excl(wrong, 1, range, &result));
        EXPECT(MPI_ERR_GROUP, MPI_Group_free(&wrong));
    }
}

/* Ranks outside the group, twice the same, more than there are. */
static void wrong_ranks(MPI_Group world)
{
    int n = size_of_world, outside[1] = { n }, negative[1] = { -1 }, twice[2] = { 0, 0 };
    EXPECT(MPI_ERR_RANK, MPI_Group_incl(world, 1, outside, &result));
    EXPECT(MPI_ERR_RANK, MPI_Group_incl(world, 1, negative, &result));
    EXPECT(MPI_ERR_RANK, MPI_Group_excl(world, 1, outside, &result));
    EXPECT(MPI_ERR_RANK, MPI_Group_excl(world, 1, negative, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_incl(world, 2, twice, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_excl(world, 2, twice, &result));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, MPI_Group_incl(world, -1, twice, &result));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, MPI_Group_excl(world, -1, twice, &result));
    EXPECT(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, outside, world, &value));
    EXPECT(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, negative, world, &value));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, MPI_Group_translate_ranks(world, -1, twice, world, &value));
    EXPECT(MPI_ERR_RANK, MPI_Group_incl(MPI_GROUP_EMPTY, 1, twice, &result));
}

static void wrong_ranges(MPI_Group world)
{
    int n = size_of_world;
    int no_stride[1][3] = { { 0, n - 1, 0 } }, beyond[1][3] = { { 0, n, 1 } }, below[1][3] = { { -1, 0, 1 } };
    int overlapping[2][3] = { { 0, n - 1, 1 }, { n - 1, 0, -1 } };
    EXPECT(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, no_stride, &result));
    EXPECT(MPI_ERR_ARG, MPI_Group_range_excl(world, 1, no_stride, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_range_incl(world, 1, beyond, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_range_excl(world, 1, beyond, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_range_incl(world, 1, below, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_range_incl(world, 2, overlapping, &result));
    EXPECT_EITHER(MPI_ERR_RANK, MPI_ERR_ARG, MPI_Group_range_excl(world, 2, overlapping, &result));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_COUNT, MPI_Group_range_incl(world, -1, no_stride, &result));
}

static void null_pointers(MPI_Group world)
{
    EXPECT(MPI_ERR_ARG, MPI_Group_size(world, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Group_rank(world, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Group_compare(world, world, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Group_union(world, world, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Group_incl(world, 1, NULL, &result));
    EXPECT(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, NULL, &result));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_GROUP, MPI_Group_free(NULL));
}

int main(int argc, char **argv)
{
    MPI_Group world;
    expect_start(&argc, &argv, "group_arguments");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    wrong_ranks(world);
    wrong_ranges(world);
    null_pointers(world);
    wrong_groups(world);
    MPI_Group_free(&world);
    return expect_finish();
}
