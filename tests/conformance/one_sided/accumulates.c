/* Accumulates (MPI-5.0 §12.3.4, §12.7.1): every operation on every type, against the table of reductions, contended by all
 * processes; derived types; and what the calls for one element return. */
#include "../collectives/reductions.h"
#include "windows.h"

enum { COUNT = 9, ROOM = COUNT * LARGEST_ELEMENT };

/* All accumulate into rank 0, which holds its own operands before; the result is the reduction. */
static void contended(struct window *w, const struct reduced_type *type, const struct operation *operation)
{
    char mine[ROOM], wanted[ROOM], scratch[ROOM];
    type->fill(mine, COUNT, rank_of_world);
    if (rank_of_world == 0)
        type->fill(w->base, COUNT, 0);
    MPI_Win_fence(0, w->win);
    if (rank_of_world)
        CHECK_CLASS(MPI_Accumulate(mine, COUNT, type->type, 0, at(w, 0, 0), COUNT, type->type, operation->op, w->win),
                    MPI_SUCCESS, "§12.3.4");
    MPI_Win_fence(0, w->win);
    if (rank_of_world == 0) {
        expect(type, operation, size_of_world - 1, wanted, scratch, COUNT);
        CHECK(type->equal(w->base, wanted, COUNT), "§12.3.4", "%s on %s, %s", operation->name, type->name,
              flavor_names[w->flavor]);
    }
}

/* What comes back is what was there: before an operation, and with MPI_NO_OP and MPI_REPLACE. */
static void fetched(struct window *w, const struct reduced_type *type, const struct operation *operation)
{
    char mine[ROOM], wanted[ROOM], theirs[ROOM], old[ROOM];
    int to = right_neighbour(), from = left_neighbour();
    type->fill(mine, COUNT, rank_of_world);
    type->fill(w->base, COUNT, rank_of_world + 1);
    MPI_Win_fence(0, w->win);
    MPI_Get_accumulate(mine, COUNT, type->type, old, COUNT, type->type, to, at(w, to, 0), COUNT, type->type,
                       operation->op, w->win);
    MPI_Win_fence(0, w->win);
    type->fill(wanted, COUNT, to + 1);
    CHECK(type->equal(old, wanted, COUNT), "§12.3.4", "%s on %s, fetched", operation->name, type->name);
    type->fill(wanted, COUNT, rank_of_world + 1);
    type->fill(theirs, COUNT, from);
    operation->combine(theirs, wanted, COUNT);
    CHECK(type->equal(w->base, wanted, COUNT), "§12.3.4", "%s on %s", operation->name, type->name);
}

static void replaced(struct window *w, const struct reduced_type *type)
{
    char mine[ROOM], wanted[ROOM], old[ROOM];
    int to = right_neighbour();
    type->fill(mine, COUNT, rank_of_world);
    type->fill(w->base, COUNT, rank_of_world + 1);
    MPI_Win_fence(0, w->win);
    MPI_Accumulate(mine, COUNT, type->type, to, at(w, to, 0), COUNT, type->type, MPI_REPLACE, w->win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, old, COUNT, type->type, to, at(w, to, 0), COUNT, type->type,
                       MPI_NO_OP, w->win);
    MPI_Win_fence(0, w->win);
    CHECK(type->equal(old, mine, COUNT), "§12.3.4, §12.7.2: in order", "%s", type->name);
    type->fill(wanted, COUNT, left_neighbour());
    CHECK(type->equal(w->base, wanted, COUNT), "§12.3.4", "MPI_REPLACE on %s", type->name);
    /* One element. */
    MPI_Fetch_and_op(wanted, old, type->type, to, at(w, to, 0), MPI_NO_OP, w->win);
    MPI_Win_fence(0, w->win);
    CHECK(type->equal(old, mine, 1), "§12.3.4.3", "%s", type->name);
    type->fill(wanted, 1, 3);
    MPI_Fetch_and_op(wanted, old, type->type, to, at(w, to, 0), MPI_REPLACE, w->win);
    MPI_Win_fence(0, w->win);
    CHECK(type->equal(old, mine, 1) && type->equal(w->base, wanted, 1), "§12.3.4.3", "%s", type->name);
    MPI_Win_fence(0, w->win);
}

static void all_types(int flavor)
{
    struct window w = open_window(flavor, ROOM);
    for (int t = 0; t < REDUCED_TYPES; t++) {
        const struct reduced_type *type = reduced_types + t;
        if (!has_type(type))
            continue;
        for (const struct operation *operation = type->operations; operation->name; operation++) {
            contended(&w, type, operation);
            fetched(&w, type, operation);
        }
        replaced(&w, type);
    }
    close_window(&w);
}

/* Pairs, with and without holes: the largest wins with the lowest index, and the holes' bytes stay. */
#define PAIR_TEST(name, mpi_type, value_type, index_type) \
    static void name(int flavor) \
    { \
        struct pair { value_type value; index_type index; } *part, mine[COUNT], old[COUNT]; \
        struct window w = open_window(flavor, sizeof mine); \
        part = (struct pair *)w.base; \
        for (int i = 0; i < COUNT; i++) { \
            mine[i].value = (value_type)((rank_of_world * 7 + i) % 3); \
            mine[i].index = (index_type)((rank_of_world + i) % size_of_world); \
        } \
        if (rank_of_world == 0) \
            for (int i = 0; i < COUNT; i++) \
                part[i].value = -1, part[i].index = 99; \
        MPI_Win_fence(0, w.win); \
        MPI_Accumulate(mine, COUNT, mpi_type, 0, at(&w, 0, 0), COUNT, mpi_type, MPI_MAXLOC, w.win); \
        MPI_Win_fence(0, w.win); \
        MPI_Get_accumulate(NULL, 0, mpi_type, old, COUNT, mpi_type, 0, at(&w, 0, 0), COUNT, mpi_type, MPI_NO_OP, w.win); \
        MPI_Win_fence(0, w.win); \
        for (int i = 0; i < COUNT; i++) { \
            int value = -1, index = 99; \
            for (int rank = 0; rank < size_of_world; rank++) { \
                int v = (rank * 7 + i) % 3, k = (rank + i) % size_of_world; \
                if (v > value || (v == value && k < index)) \
                    value = v, index = k; \
            } \
            CHECK((int)old[i].value == value && (int)old[i].index == index, "§12.3.4, §6.9.4", "%s element %d: %d %d", \
                  #mpi_type, i, (int)old[i].value, (int)old[i].index); \
        } \
        MPI_Fetch_and_op(mine, old, mpi_type, rank_of_world, at(&w, rank_of_world, 0), MPI_REPLACE, w.win); \
        MPI_Win_fence(0, w.win); \
        CHECK(part[0].value == mine[0].value && part[0].index == mine[0].index, "§12.3.4.3"); \
        MPI_Win_fence(0, w.win); \
        close_window(&w); \
    }

PAIR_TEST(float_int, MPI_FLOAT_INT, float, int)
PAIR_TEST(double_int, MPI_DOUBLE_INT, double, int)
PAIR_TEST(long_int, MPI_LONG_INT, long, int)
PAIR_TEST(two_int, MPI_2INT, int, int)
PAIR_TEST(short_int, MPI_SHORT_INT, short, int)
PAIR_TEST(long_double_int, MPI_LONG_DOUBLE_INT, long double, int)

/* Derived types of one predefined type on all sides; the target's also where no element is aligned. */
static void derived(int flavor)
{
    enum { ROWS = 20 };
    struct window w = open_window(flavor, 1 + 3 * ROWS * sizeof(int));
    MPI_Datatype column, shifted;
    int one = 1, matrix[3 * ROWS], old[ROWS];
    MPI_Aint by = 1;
    MPI_Type_vector(ROWS, 1, 3, MPI_INT, &column);
    MPI_Type_create_hindexed(1, &one, &by, column, &shifted);
    MPI_Type_commit(&column);
    MPI_Type_commit(&shifted);
    for (int i = 0; i < 3 * ROWS; i++)
        matrix[i] = i;
    for (int odd = 0; odd < 2; odd++) {
        MPI_Datatype type = odd ? shifted : column;
        memset(w.base, 0, w.size);
        MPI_Win_fence(0, w.win);
        MPI_Accumulate(matrix + 1, 1, column, 0, at(&w, 0, 0), 1, type, MPI_SUM, w.win);
        MPI_Win_fence(0, w.win);
        MPI_Get_accumulate(NULL, 0, MPI_INT, old, ROWS, MPI_INT, 0, at(&w, 0, 0), 1, type, MPI_NO_OP, w.win);
        MPI_Win_fence(0, w.win);
        for (int i = 0; i < ROWS; i++)
            CHECK_EQUAL(old[i], size_of_world * (3 * i + 1), "§12.3.4: on derived types");
        if (rank_of_world == 0)
            for (int i = 0; i < 3 * ROWS; i++) {
                int element;
                memcpy(&element, w.base + odd + i * sizeof element, sizeof element);
                CHECK_EQUAL(element, i % 3 ? 0 : size_of_world * (i + 1), "§12.3.4: on derived types");
            }
        MPI_Win_fence(0, w.win);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&shifted);
    close_window(&w);
}

/* A counter that all count up: every number comes to exactly one of them (§12.7.1). */
#define COUNTER_TEST(name, type, ctype) \
    static void name(int flavor) \
    { \
        enum { STEPS = 60 }; \
        struct window w = open_window(flavor, 16); \
        ctype one = 1, seen[STEPS]; \
        int mine[STEPS], *all = need(STEPS * size_of_world * sizeof *all); \
        char *counted = need(STEPS * size_of_world); \
        memset(counted, 0, STEPS * size_of_world); \
        MPI_Win_lock_all(0, w.win); \
        for (int i = 0; i < STEPS; i++) { \
            MPI_Fetch_and_op(&one, seen + i, type, 0, at(&w, 0, 0), MPI_SUM, w.win); \
            MPI_Win_flush(0, w.win); \
            mine[i] = (int)seen[i]; \
            CHECK(i == 0 || seen[i] > seen[i - 1], "§12.7.2"); \
        } \
        MPI_Win_unlock_all(w.win); \
        MPI_Allgather(mine, STEPS, MPI_INT, all, STEPS, MPI_INT, MPI_COMM_WORLD); \
        for (int i = 0; i < STEPS * size_of_world; i++) { \
            CHECK(all[i] >= 0 && all[i] < STEPS * size_of_world && !counted[all[i]]++, "§12.7.1", "%s, %s: %d", #type, \
                  flavor_names[flavor], all[i]); \
        } \
        free(all); \
        free(counted); \
        close_window(&w); \
    }

COUNTER_TEST(count_long, MPI_LONG, long)
COUNTER_TEST(count_int, MPI_INT, int)
COUNTER_TEST(count_short, MPI_SHORT, short)
COUNTER_TEST(count_double, MPI_DOUBLE, double)
COUNTER_TEST(count_float, MPI_FLOAT, float)
COUNTER_TEST(count_long_double, MPI_LONG_DOUBLE, long double)

/* Increments by compare-and-swap: none is lost (§12.3.4.4). */
#define SWAP_TEST(name, type, ctype) \
    static void name(int flavor) \
    { \
        struct window w = open_window(flavor, 16); \
        MPI_Win_lock_all(0, w.win); \
        for (int i = 0; i < 20; i++) { \
            ctype expected = 0, next, found; \
            for (;;) { \
                next = expected + 1; \
                MPI_Compare_and_swap(&next, &expected, &found, type, 0, at(&w, 0, 0), w.win); \
                MPI_Win_flush(0, w.win); \
                if (found == expected) \
                    break; \
                CHECK(found > expected, "§12.3.4.4: it was another's"); \
                expected = found; \
            } \
        } \
        MPI_Win_unlock_all(w.win); \
        MPI_Barrier(MPI_COMM_WORLD); \
        if (rank_of_world == 0) \
            CHECK_EQUAL(*(ctype *)w.base, 20 * size_of_world, "§12.3.4.4"); \
        close_window(&w); \
    }

SWAP_TEST(swap_char, MPI_UINT8_T, uint8_t)
SWAP_TEST(swap_short, MPI_INT16_T, int16_t)
SWAP_TEST(swap_int, MPI_INT, int)
SWAP_TEST(swap_long, MPI_AINT, MPI_Aint)
SWAP_TEST(swap_wide, MPI_INTEGER16, __int128)

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "accumulates");
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (!has_flavor(flavor))
            continue;
        if (flavor != APART)
            all_types(flavor);
        float_int(flavor);
        double_int(flavor);
        long_int(flavor);
        two_int(flavor);
        short_int(flavor);
        long_double_int(flavor);
        derived(flavor);
        count_long(flavor);
        count_int(flavor);
        count_short(flavor);
        count_double(flavor);
        count_float(flavor);
        count_long_double(flavor);
        swap_char(flavor);
        swap_short(flavor);
        swap_int(flavor);
        swap_long(flavor);
        swap_wide(flavor);
    }
    return check_finish();
}
