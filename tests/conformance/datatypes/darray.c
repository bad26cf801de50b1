/* MPI_Type_create_darray: every element of the array belongs to one process, the one that the distribution names, and
 * each process's come in storage order: MPI-5.0 §5.1.4. */
#include "check.h"

enum { MOST = 1200 };

struct array {
    int dimensions, order;
    int sizes[3], how[3], blocks[3], grid[3];
};

/* The coordinate in its grid dimension of the process that has index `index`. */
static int owner(const struct array *array, int dimension, int index)
{
    int size = array->sizes[dimension], grid = array->grid[dimension], block = array->blocks[dimension];
    switch (array->how[dimension]) {
    case MPI_DISTRIBUTE_NONE: return 0;
    case MPI_DISTRIBUTE_BLOCK:
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = (size + grid - 1) / grid;
        return index / block;
    default:
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = 1;
        return index / block % grid;
    }
}

/* The rank, by rows of the grid, that has an element of the array in storage order. */
static int rank_of(const struct array *array, int element)
{
    int coordinate[3], rank = 0;
    for (int k = array->dimensions - 1; k >= 0; k--) {
        int i = array->order == MPI_ORDER_C ? k : array->dimensions - 1 - k;
        coordinate[i] = owner(array, i, element % array->sizes[i]);
        element /= array->sizes[i];
    }
    for (int i = 0; i < array->dimensions; i++)
        rank = rank * array->grid[i] + coordinate[i];
    return rank;
}

static void check_array(const struct array *array)
{
    static int whole[MOST], part[MOST];
    int processes = 1, elements = 1;
    MPI_Count large_sizes[3];
    for (int i = 0; i < array->dimensions; i++) {
        processes *= array->grid[i], elements *= array->sizes[i];
        large_sizes[i] = array->sizes[i];
    }
    for (int i = 0; i < elements; i++)
        whole[i] = i;
    for (int rank = 0; rank < processes; rank++) {
        MPI_Datatype type;
        MPI_Aint lower = -1, extent = -1;
        int size = -1, position = 0, mine = 0;
        if (rank % 2)
            MPI_Type_create_darray(processes, rank, array->dimensions, array->sizes, array->how, array->blocks,
                                   array->grid, array->order, MPI_INT, &type);
        else
            MPI_Type_create_darray_c(processes, rank, array->dimensions, large_sizes, array->how, array->blocks,
                                     array->grid, array->order, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_get_extent(type, &lower, &extent);
        CHECK(lower == 0 && extent == elements * (MPI_Aint)sizeof(int), "MPI-5.0 §5.1.4: the whole array's extent");
        MPI_Type_size(type, &size);
        MPI_Pack(whole, 1, type, part, sizeof part, &position, MPI_COMM_SELF);
        for (int i = 0; i < elements; i++)
            if (rank_of(array, i) == rank)
                CHECK_EQUAL(part[mine++], i, "MPI-5.0 §5.1.4");
        CHECK_EQUAL(size, mine * (int)sizeof(int), "MPI-5.0 §5.1.4");
        MPI_Type_free(&type);
    }
}

int main(int argc, char **argv)
{
    const int none = MPI_DISTRIBUTE_NONE, block = MPI_DISTRIBUTE_BLOCK, cyclic = MPI_DISTRIBUTE_CYCLIC;
    const int usual = MPI_DISTRIBUTE_DFLT_DARG;
    check_start(&argc, &argv, "darray");
    const struct array arrays[] = {
        { 1, MPI_ORDER_C, { 10 }, { block }, { usual }, { 3 } },
        { 1, MPI_ORDER_C, { 10 }, { block }, { 6 }, { 3 } },
        { 1, MPI_ORDER_C, { 2 }, { block }, { usual }, { 4 } },
        { 1, MPI_ORDER_C, { 11 }, { cyclic }, { usual }, { 3 } },
        { 1, MPI_ORDER_FORTRAN, { 11 }, { cyclic }, { 2 }, { 3 } },
        { 1, MPI_ORDER_C, { 3 }, { cyclic }, { 5 }, { 2 } },
        { 2, MPI_ORDER_C, { 7, 9 }, { block, cyclic }, { usual, 2 }, { 2, 2 } },
        { 2, MPI_ORDER_FORTRAN, { 7, 9 }, { block, cyclic }, { usual, 2 }, { 2, 2 } },
        { 2, MPI_ORDER_C, { 7, 9 }, { cyclic, none }, { 3, usual }, { 3, 1 } },
        { 3, MPI_ORDER_C, { 5, 6, 7 }, { cyclic, block, cyclic }, { 2, 3, usual }, { 2, 2, 3 } },
        { 3, MPI_ORDER_FORTRAN, { 5, 6, 7 }, { cyclic, block, none }, { 2, 3, usual }, { 2, 3, 1 } },
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        check_array(&arrays[i]);
    return check_finish();
}
