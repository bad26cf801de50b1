/* Collectives on several communicators, in one order on all ranks, between point-to-point traffic; back to
 * back without synchronization; on communicators with other ranks than the world's. */
#include "check.h"

enum { ROUNDS = 40 };

static void two_communicators(MPI_Comm first, MPI_Comm second)
{
    int rank, size, second_rank;
    MPI_Comm_rank(first, &rank);
    MPI_Comm_size(first, &size);
    MPI_Comm_rank(second, &second_rank);
    for (int round = 0; round < ROUNDS; round++) {
        int a = round, b = -1, c = second_rank == round % size ? 7 * round : -1, got = -1, sum = -1;
        MPI_Request requests[2];
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, first, &requests[0]);
        MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, first);
        MPI_Isend(&round, 1, MPI_INT, (rank + 1) % size, round, first, &requests[1]);
        MPI_Bcast(&c, 1, MPI_INT, round % size, second);
        MPI_Reduce(&second_rank, &sum, 1, MPI_INT, MPI_SUM, round % size, second);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK_EQUAL(b, size * round, "MPI-5.0 §6.14");
        CHECK_EQUAL(c, 7 * round, "MPI-5.0 §6.14");
        CHECK_EQUAL(got, round, "MPI-5.0 §6.14");
        if (second_rank == round % size)
            CHECK_EQUAL(sum, size * (size - 1) / 2, "MPI-5.0 §6.14");
    }
}

/* Roots that run ahead: a fast rank's next collective may not be taken for the present one. */
static void back_to_back(void)
{
    int *all = need((size_t)size_of_world * sizeof(int));
    for (int round = 0; round < 200; round++) {
        int root = round % size_of_world, value = rank_of_world == root ? round : -1;
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK_EQUAL(value, round, "MPI-5.0 §6.14");
        value = 1000 * round + rank_of_world;
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        for (int r = 0; r < size_of_world && rank_of_world == root; r++)
            CHECK_EQUAL(all[r], 1000 * round + r, "MPI-5.0 §6.14");
    }
    free(all);
}

/* Overlapping groups: the evens, the odds, and everyone reversed. */
static void groups(void)
{
    MPI_Comm half, reversed;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world % 2, -rank_of_world, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_world, &reversed);
    int half_size, half_rank, size = size_of_world;
    MPI_Comm_size(half, &half_size);
    MPI_Comm_rank(half, &half_rank);
    for (int round = 0; round < ROUNDS; round++) {
        int value = rank_of_world, sum = -1, prefix = -1, first = rank_of_world;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
        int highest = rank_of_world % 2 == (size - 1) % 2 ? size - 1 : size - 2;
        int lowest = rank_of_world % 2;
        CHECK_EQUAL(sum, (lowest + highest) * half_size / 2, "MPI-5.0 §6.2");
        MPI_Scan(&value, &prefix, 1, MPI_INT, MPI_MIN, reversed);
        CHECK_EQUAL(prefix, rank_of_world, "MPI-5.0 §6.11.1: in the communicator's order");
        MPI_Bcast(&first, 1, MPI_INT, 0, half);
        CHECK_EQUAL(first, highest, "MPI-5.0 §6.4: root is a rank of the communicator");
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, reversed;
    check_start(&argc, &argv, "interleaved");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_world, &reversed);
    two_communicators(MPI_COMM_WORLD, dup);
    two_communicators(dup, reversed);
    back_to_back();
    groups();
    MPI_Comm_free(&dup);
    MPI_Comm_free(&reversed);
    return check_finish();
}
