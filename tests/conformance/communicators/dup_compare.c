/* MPI_Comm_dup and MPI_Comm_compare. */
#include "check.h"

static void compared(MPI_Comm a, MPI_Comm b, int expected)
{
    int result = -1;
    MPI_Comm_compare(a, b, &result);
    CHECK_EQUAL(result, expected, "MPI-5.0 §7.4.1");
    MPI_Comm_compare(b, a, &result);
    CHECK_EQUAL(result, expected, "MPI-5.0 §7.4.1");
}

int main(int argc, char **argv)
{
    MPI_Comm dup, twice, reversed, self;
    int rank = -1, size = -1, sum = -1;
    check_start(&argc, &argv, "dup_compare");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_rank(dup, &rank);
    MPI_Comm_size(dup, &size);
    CHECK(rank == rank_of_world && size == size_of_world, "MPI-5.0 §7.4.2");
    MPI_Comm_dup(dup, &twice);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_world, &reversed);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    compared(MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_IDENT);
    compared(dup, dup, MPI_IDENT);
    compared(MPI_COMM_WORLD, dup, MPI_CONGRUENT);
    compared(dup, twice, MPI_CONGRUENT);
    compared(MPI_COMM_WORLD, reversed, size_of_world == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    compared(MPI_COMM_WORLD, self, size_of_world == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    compared(self, MPI_COMM_SELF, MPI_CONGRUENT);
    /* The copy works after its original is gone. */
    MPI_Comm_free(&dup);
    CHECK(dup == MPI_COMM_NULL, "MPI-5.0 §7.4.3");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, twice);
    CHECK_EQUAL(sum, size_of_world * (size_of_world - 1) / 2, "MPI-5.0 §7.4.2");
    MPI_Comm_free(&twice);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&self);
    return check_finish();
}
