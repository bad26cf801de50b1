/* One address for what is sent and what is received is right where no byte is both: by displacements, by datatypes whose
 * gaps interleave, and with MPI_BOTTOM. MPI-5.0 §2.3, §2.5.6, §6. */
#include "check.h"

enum { MOST = 16 };

static int data[4 * MOST], counts[MOST], low[MOST], high[MOST], wide[MOST];

static void displacements(void)
{
    int size = size_of_world, rank = rank_of_world;
    for (int i = 0; i < size; i++)
        counts[i] = 1, low[i] = i, high[i] = size + i, data[i] = 100 * rank + i, data[size + i] = -1;
    MPI_Alltoallv(data, counts, low, MPI_INT, data, counts, high, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(data[i] == 100 * rank + i && data[size + i] == 100 * i + rank, "MPI-5.0 §6.8");
    /* What is sent stands in front of the places, at their address. */
    data[0] = rank;
    for (int i = 0; i < size; i++)
        wide[i] = 1 + i;
    for (int root = 0; root < size; root++) {
        MPI_Gatherv(data, 1, MPI_INT, data, counts, wide, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < size && root == rank; i++)
            CHECK_EQUAL(data[1 + i], i, "MPI-5.0 §6.5");
        MPI_Scatterv(data, counts, wide, MPI_INT, data, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK_EQUAL(data[0], rank, "MPI-5.0 §6.6");
    }
    MPI_Allgatherv(data, 1, MPI_INT, data, counts, wide, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK_EQUAL(data[1 + i], i, "MPI-5.0 §6.7");
}

/* Even elements are sent and odd ones received. */
static void gaps(void)
{
    MPI_Datatype even, odd, even_wide, odd_wide;
    int second = 1, size = size_of_world;
    MPI_Type_create_indexed_block(1, 1, (int[]){ 0 }, MPI_INT, &even);
    MPI_Type_create_indexed_block(1, 1, &second, MPI_INT, &odd);
    MPI_Type_create_resized(even, 0, 2 * sizeof(int), &even_wide);
    MPI_Type_create_resized(odd, 0, 2 * sizeof(int), &odd_wide);
    MPI_Type_commit(&even_wide);
    MPI_Type_commit(&odd_wide);
    for (int i = 0; i < size; i++)
        data[2 * i] = 10 * rank_of_world + i, data[2 * i + 1] = -1;
    MPI_Alltoall(data, 1, even_wide, data, 1, odd_wide, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(data[2 * i] == 10 * rank_of_world + i && data[2 * i + 1] == 10 * i + rank_of_world, "MPI-5.0 §6.8");
    MPI_Allgather(data, 1, even_wide, data, 1, odd_wide, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK_EQUAL(data[2 * i + 1], 10 * i, "MPI-5.0 §6.7");
    MPI_Type_free(&even);
    MPI_Type_free(&odd);
    MPI_Type_free(&even_wide);
    MPI_Type_free(&odd_wide);
}

static void bottom(void)
{
    MPI_Datatype from, into;
    MPI_Aint places[2];
    int sent = rank_of_world, one = 1;
    MPI_Get_address(&sent, &places[0]);
    MPI_Get_address(data, &places[1]);
    MPI_Type_create_hindexed(1, &one, &places[0], MPI_INT, &from);
    MPI_Type_create_hindexed(1, &one, &places[1], MPI_INT, &into);
    MPI_Type_commit(&from);
    MPI_Type_commit(&into);
    MPI_Gather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, into, 0, MPI_COMM_SELF);
    CHECK_EQUAL(data[0], rank_of_world, "MPI-5.0 §2.5.6");
    sent++;
    MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, into, MPI_COMM_SELF);
    CHECK_EQUAL(data[0], rank_of_world + 1, "MPI-5.0 §2.5.6");
    sent++;
    MPI_Alltoall(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, into, MPI_COMM_SELF);
    CHECK_EQUAL(data[0], rank_of_world + 2, "MPI-5.0 §2.5.6");
    MPI_Type_free(&from);
    MPI_Type_free(&into);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "same_base");
    if (size_of_world <= MOST) {
        displacements();
        gaps();
    }
    bottom();
    return check_finish();
}
