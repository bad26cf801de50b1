/* Collective operations whose two sides lay the same data out differently: MPI-5.0 §6.1, §5.1.11. A block is 12 ints:
 * a column of a matrix, a struct of two parts, or a list in reverse. */
#include "check.h"

enum { BLOCK = 12, ROOM = 64, UNTOUCHED = -5, LAYOUTS = 4 };

static MPI_Datatype layouts[LAYOUTS];
/* Where the ints of a block lie, and how far apart blocks do. */
static int places[LAYOUTS][BLOCK], extents[LAYOUTS];

static void make(int which, MPI_Datatype inner, int extent)
{
    MPI_Type_create_resized(inner, 0, extent * (MPI_Aint)sizeof(int), &layouts[which]);
    MPI_Type_commit(&layouts[which]);
    extents[which] = extent;
    if (inner != MPI_INT)
        MPI_Type_free(&inner);
}

static void make_layouts(void)
{
    MPI_Datatype type;
    int lengths[2] = { 5, 7 }, reverse[BLOCK];
    MPI_Aint starts[2] = { 40 * sizeof(int), 3 * sizeof(int) };
    MPI_Datatype ints[2] = { MPI_INT, MPI_INT };
    for (int i = 0; i < BLOCK; i++) {
        places[0][i] = i;
        places[1][i] = 5 * i;
        places[2][i] = i < 5 ? 40 + i : 3 + i - 5;
        places[3][i] = reverse[i] = 2 * (BLOCK - 1 - i);
    }
    MPI_Type_contiguous(BLOCK, MPI_INT, &type);
    make(0, type, BLOCK);
    MPI_Type_vector(BLOCK, 1, 5, MPI_INT, &type);
    make(1, type, ROOM); /* columns */
    MPI_Type_create_struct(2, lengths, starts, ints, &type);
    make(2, type, ROOM);
    MPI_Type_create_indexed_block(BLOCK, 1, reverse, MPI_INT, &type);
    make(3, type, ROOM);
}

/* A buffer of `blocks` blocks, all of it untouched. */
static int *buffer(int blocks)
{
    int *space = need((size_t)(blocks + 1) * ROOM * sizeof *space);
    for (int i = 0; i < (blocks + 1) * ROOM; i++)
        space[i] = UNTOUCHED;
    return space;
}

static void fill(int *space, int layout, int block, int value)
{
    for (int i = 0; i < BLOCK; i++)
        space[block * extents[layout] + places[layout][i]] = value * 100 + i;
}

static void holds(int *space, int layout, int block, int value)
{
    for (int i = 0; i < BLOCK; i++) {
        int *at = &space[block * extents[layout] + places[layout][i]];
        CHECK_EQUAL(*at, value * 100 + i, "MPI-5.0 §5.1.11");
        *at = UNTOUCHED;
    }
}

static void nothing_else(int *space, int blocks)
{
    for (int i = 0; i < (blocks + 1) * ROOM; i++)
        CHECK(space[i] == UNTOUCHED, "MPI-5.0 §5.1.11: nothing else is written", "at %d", i);
    free(space);
}

static void broadcast(int from, int to, int root)
{
    int layout = rank_of_world == root ? from : to, *space = buffer(2);
    if (rank_of_world == root)
        fill(space, layout, 0, 3), fill(space, layout, 1, 4);
    /* One side may count other units than the other: two blocks are 24 ints. */
    MPI_Bcast(space, 2, layouts[layout], root, MPI_COMM_WORLD);
    holds(space, layout, 0, 3);
    holds(space, layout, 1, 4);
    nothing_else(space, 2);
}

static void gather_scatter(int from, int to, int root)
{
    int is_root = rank_of_world == root, *mine = buffer(1), *all = buffer(size_of_world);
    fill(mine, from, 0, rank_of_world);
    MPI_Gather(mine, 1, layouts[from], all, 1, layouts[to], root, MPI_COMM_WORLD);
    for (int r = 0; is_root && r < size_of_world; r++)
        holds(all, to, r, r);
    for (int r = 0; is_root && r < size_of_world; r++)
        fill(all, to, r, r + 7);
    holds(mine, from, 0, rank_of_world);
    MPI_Scatter(all, 1, layouts[to], mine, 1, layouts[from], root, MPI_COMM_WORLD);
    holds(mine, from, 0, rank_of_world + 7);
    for (int r = 0; is_root && r < size_of_world; r++)
        holds(all, to, r, r + 7);
    nothing_else(mine, 1);
    nothing_else(all, size_of_world);
}

static void everywhere(int from, int to)
{
    int *mine = buffer(size_of_world), *all = buffer(size_of_world);
    fill(mine, from, 0, rank_of_world);
    MPI_Allgather(mine, 1, layouts[from], all, 1, layouts[to], MPI_COMM_WORLD);
    for (int r = 0; r < size_of_world; r++)
        holds(all, to, r, r);
    for (int r = 0; r < size_of_world; r++)
        fill(mine, from, r, 10 * rank_of_world + r);
    MPI_Alltoall(mine, 1, layouts[from], all, 1, layouts[to], MPI_COMM_WORLD);
    for (int r = 0; r < size_of_world; r++)
        holds(all, to, r, 10 * r + rank_of_world);
    for (int r = 0; r < size_of_world; r++)
        holds(mine, from, r, 10 * rank_of_world + r);
    nothing_else(mine, size_of_world);
    nothing_else(all, size_of_world);
}

/* The blocks at the receiver in reverse order of ranks. */
static void vectors(int from, int to)
{
    int *mine = buffer(size_of_world), *all = buffer(size_of_world);
    int *ones = need((size_t)size_of_world * sizeof *ones), *here = need((size_t)size_of_world * sizeof *here);
    int *there = need((size_t)size_of_world * sizeof *there);
    for (int r = 0; r < size_of_world; r++)
        ones[r] = 1, here[r] = r, there[r] = size_of_world - 1 - r;
    fill(mine, from, 0, rank_of_world);
    MPI_Allgatherv(mine, 1, layouts[from], all, ones, there, layouts[to], MPI_COMM_WORLD);
    for (int r = 0; r < size_of_world; r++)
        holds(all, to, there[r], r);
    for (int r = 0; r < size_of_world; r++)
        fill(mine, from, r, 10 * rank_of_world + r);
    MPI_Alltoallv(mine, ones, here, layouts[from], all, ones, there, layouts[to], MPI_COMM_WORLD);
    for (int r = 0; r < size_of_world; r++)
        holds(all, to, there[r], 10 * r + rank_of_world);
    for (int r = 0; r < size_of_world; r++)
        holds(mine, from, r, 10 * rank_of_world + r);
    nothing_else(mine, size_of_world);
    nothing_else(all, size_of_world);
    free(ones);
    free(here);
    free(there);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "derived");
    make_layouts();
    for (int from = 0; from < LAYOUTS; from++)
        for (int to = 0; to < LAYOUTS; to++) {
            broadcast(from, to, 0);
            broadcast(from, to, size_of_world - 1);
            gather_scatter(from, to, 0);
            gather_scatter(from, to, size_of_world / 2);
            everywhere(from, to);
            vectors(from, to);
        }
    for (int i = 0; i < LAYOUTS; i++)
        MPI_Type_free(&layouts[i]);
    return check_finish();
}
