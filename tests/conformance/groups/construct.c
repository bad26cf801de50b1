/* Group constructors against plain sets of ranks: incl, excl, ranges, union, intersection, difference. */
#include "check.h"

enum { LARGEST = 64 };

/* Holds `group` to be the world's ranks `expected`, in this order. */
static void is_list(MPI_Group group, const int *expected, int count, const char *clause)
{
    int size = -1, got[LARGEST], own[LARGEST];
    MPI_Group world;
    MPI_Group_size(group, &size);
    CHECK_EQUAL(size, count, clause);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < count; i++)
        own[i] = i;
    MPI_Group_translate_ranks(group, count, own, world, got);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(got[i], expected[i], clause);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL, "MPI-5.0 §7.3.3");
}

static void list_and_free(MPI_Group group, const int *expected, int count, const char *clause)
{
    is_list(group, expected, count, clause);
    if (group != MPI_GROUP_EMPTY)
        MPI_Group_free(&group);
}

/* Every subset of the first ranks of the world, in two orders. */
static void include_and_exclude(MPI_Group world)
{
    int bits = size_of_world < 5 ? size_of_world : 5;
    for (int set = 0; set < 1 << bits; set++) {
        int in[LARGEST], reversed[LARGEST], out[LARGEST], ins = 0, outs = 0;
        for (int r = 0; r < size_of_world; r++)
            if (r < bits && set >> r & 1)
                in[ins++] = r;
            else
                out[outs++] = r;
        for (int i = 0; i < ins; i++)
            reversed[i] = in[ins - 1 - i];
        MPI_Group group;
        MPI_Group_incl(world, ins, reversed, &group);
        list_and_free(group, reversed, ins, "MPI-5.0 §7.3.2: incl keeps the order given");
        MPI_Group_excl(world, ins, in, &group);
        list_and_free(group, out, outs, "MPI-5.0 §7.3.2: excl keeps the group's order");
    }
}

static void ranges(MPI_Group world)
{
    int last = size_of_world - 1, expected[LARGEST] = { 0 }, count = 0;
    MPI_Group group;
    int all[1][3] = { { 0, last, 1 } };
    for (int r = 0; r <= last; r++)
        expected[r] = r;
    MPI_Group_range_incl(world, 1, all, &group);
    list_and_free(group, expected, last + 1, "MPI-5.0 §7.3.2");
    MPI_Group_range_excl(world, 1, all, &group);
    list_and_free(group, NULL, 0, "MPI-5.0 §7.3.2");
    int backwards[1][3] = { { last, 0, -2 } };
    for (int r = last; r >= 0; r -= 2)
        expected[count++] = r;
    MPI_Group_range_incl(world, 1, backwards, &group);
    list_and_free(group, expected, count, "MPI-5.0 §7.3.2: a negative stride");
    count = 0;
    for (int r = 0; r <= last; r++)
        if ((last - r) % 2)
            expected[count++] = r;
    MPI_Group_range_excl(world, 1, backwards, &group);
    list_and_free(group, expected, count, "MPI-5.0 §7.3.2: a negative stride");
    /* The odd ranks down, then the even ones up; the last of a range need not be hit by its stride. */
    int two[2][3] = { { last % 2 ? last : last - 1, 0, -2 }, { 0, last, 2 } };
    if (last >= 1) {
        count = 0;
        for (int r = two[0][0]; r >= 0; r -= 2)
            expected[count++] = r;
        for (int r = 0; r <= last; r += 2)
            expected[count++] = r;
        MPI_Group_range_incl(world, 2, two, &group);
        list_and_free(group, expected, count, "MPI-5.0 §7.3.2: two ranges");
    }
    MPI_Group_range_incl(world, 0, two, &group);
    list_and_free(group, NULL, 0, "MPI-5.0 §7.3.2: no range");
    MPI_Group_range_excl(world, 0, two, &group);
    for (int r = 0; r <= last; r++)
        expected[r] = r;
    list_and_free(group, expected, last + 1, "MPI-5.0 §7.3.2: no range");
}

static int position(const int *list, int count, int value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return i;
    return -1;
}

/* The operations on two ordered lists, by their definition. */
static void set_operations(MPI_Group world, const int *a, int as, const int *b, int bs)
{
    int both[LARGEST], common[LARGEST], only[LARGEST], boths = 0, commons = 0, onlys = 0;
    for (int i = 0; i < as; i++) {
        both[boths++] = a[i];
        if (position(b, bs, a[i]) >= 0)
            common[commons++] = a[i];
        else
            only[onlys++] = a[i];
    }
    for (int i = 0; i < bs; i++)
        if (position(a, as, b[i]) < 0)
            both[boths++] = b[i];
    MPI_Group first, second, result;
    MPI_Group_incl(world, as, a, &first);
    MPI_Group_incl(world, bs, b, &second);
    MPI_Group_union(first, second, &result);
    list_and_free(result, both, boths, "MPI-5.0 §7.3.2: union");
    MPI_Group_intersection(first, second, &result);
    list_and_free(result, common, commons, "MPI-5.0 §7.3.2: intersection, in the first's order");
    MPI_Group_difference(first, second, &result);
    list_and_free(result, only, onlys, "MPI-5.0 §7.3.2: difference");
    if (first != MPI_GROUP_EMPTY)
        MPI_Group_free(&first);
    if (second != MPI_GROUP_EMPTY)
        MPI_Group_free(&second);
}

/* Lists drawn by a small generator with a fixed seed. */
static void random_sets(MPI_Group world)
{
    uint32_t state = 12345;
    for (int round = 0; round < 200; round++) {
        int lists[2][LARGEST], counts[2] = { 0, 0 };
        for (int which = 0; which < 2; which++)
            for (int draw = 0; draw < size_of_world; draw++) {
                state = state * 1664525u + 1013904223u;
                int r = (int)((state >> 16) % (unsigned)size_of_world);
                if (state >> 30 && position(lists[which], counts[which], r) < 0)
                    lists[which][counts[which]++] = r;
            }
        set_operations(world, lists[0], counts[0], lists[1], counts[1]);
    }
}

int main(int argc, char **argv)
{
    MPI_Group world;
    check_start(&argc, &argv, "construct");
    CHECK(size_of_world <= LARGEST, "at most 64 ranks");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    include_and_exclude(world);
    ranges(world);
    random_sets(world);
    MPI_Group_free(&world);
    return check_finish();
}
