/* Group accessors: size, rank, compare, translate_ranks, the empty group. */
#include "check.h"

static MPI_Group take(MPI_Group world, int count, const int *ranks)
{
    MPI_Group group;
    MPI_Group_incl(world, count, ranks, &group);
    return group;
}

static void size_and_rank(MPI_Group world)
{
    int size = -1, rank = -1, last = size_of_world - 1;
    MPI_Group_size(world, &size);
    MPI_Group_rank(world, &rank);
    CHECK(size == size_of_world && rank == rank_of_world, "MPI-5.0 §7.3.1");
    MPI_Group one = take(world, 1, &last);
    MPI_Group_rank(one, &rank);
    CHECK_EQUAL(rank, rank_of_world == last ? 0 : MPI_UNDEFINED, "MPI-5.0 §7.3.1");
    MPI_Group_free(&one);
    MPI_Group_size(MPI_GROUP_EMPTY, &size);
    MPI_Group_rank(MPI_GROUP_EMPTY, &rank);
    CHECK(size == 0 && rank == MPI_UNDEFINED, "MPI-5.0 §7.3.1");
}

static void compared(MPI_Group a, MPI_Group b, int expected)
{
    int result = -1;
    MPI_Group_compare(a, b, &result);
    CHECK_EQUAL(result, expected, "MPI-5.0 §7.3.1");
    MPI_Group_compare(b, a, &result);
    CHECK_EQUAL(result, expected, "MPI-5.0 §7.3.1");
}

static void compare(MPI_Group world)
{
    MPI_Group again, none;
    MPI_Comm_group(MPI_COMM_WORLD, &again);
    compared(world, world, MPI_IDENT);
    compared(world, again, MPI_IDENT);
    compared(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, MPI_IDENT);
    compared(world, MPI_GROUP_EMPTY, MPI_UNEQUAL);
    MPI_Group_difference(world, again, &none);
    compared(none, MPI_GROUP_EMPTY, MPI_IDENT);
    MPI_Group_free(&again);
    if (size_of_world > 1) {
        int up[2] = { 0, 1 }, down[2] = { 1, 0 };
        MPI_Group first = take(world, 2, up), second = take(world, 2, down), third = take(world, 1, down);
        compared(first, second, MPI_SIMILAR);
        compared(first, third, MPI_UNEQUAL);
        compared(first, world, size_of_world == 2 ? MPI_IDENT : MPI_UNEQUAL);
        MPI_Group_free(&first);
        MPI_Group_free(&second);
        MPI_Group_free(&third);
    }
}

static void translate(MPI_Group world)
{
    int *reversed = need((size_t)size_of_world * sizeof(int)), ranks[3], got[3];
    for (int i = 0; i < size_of_world; i++)
        reversed[i] = size_of_world - 1 - i;
    MPI_Group backwards = take(world, size_of_world, reversed), self;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    ranks[0] = 0;
    ranks[1] = MPI_PROC_NULL;
    ranks[2] = size_of_world - 1;
    MPI_Group_translate_ranks(world, 3, ranks, backwards, got);
    CHECK(got[0] == size_of_world - 1 && got[2] == 0, "MPI-5.0 §7.3.1");
    CHECK_EQUAL(got[1], MPI_PROC_NULL, "MPI-5.0 §7.3.1: MPI_PROC_NULL translates to itself");
    MPI_Group_translate_ranks(world, 3, ranks, self, got);
    CHECK_EQUAL(got[0], rank_of_world == 0 ? 0 : MPI_UNDEFINED, "MPI-5.0 §7.3.1");
    CHECK_EQUAL(got[1], MPI_PROC_NULL, "MPI-5.0 §7.3.1");
    MPI_Group_translate_ranks(world, 1, ranks, MPI_GROUP_EMPTY, got);
    CHECK_EQUAL(got[0], MPI_UNDEFINED, "MPI-5.0 §7.3.1");
    MPI_Group_translate_ranks(world, 0, NULL, self, NULL);
    MPI_Group_free(&self);
    MPI_Group_free(&backwards);
    free(reversed);
}

/* A group outlives the communicator it came from. */
static void outlives(void)
{
    MPI_Comm dup;
    MPI_Group group;
    int size = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_group(dup, &group);
    MPI_Comm_free(&dup);
    MPI_Group_size(group, &size);
    CHECK_EQUAL(size, size_of_world, "MPI-5.0 §7.3.2");
    MPI_Group_free(&group);
    CHECK(group == MPI_GROUP_NULL, "MPI-5.0 §7.3.3");
}

int main(int argc, char **argv)
{
    MPI_Group world;
    check_start(&argc, &argv, "inquire");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    size_and_rank(world);
    compare(world);
    translate(world);
    outlives();
    MPI_Group_free(&world);
    return check_finish();
}
