/* What may go while a collective operation is under way or prepared, and in what order prepared ones may start:
 * MPI-5.0 §6.12, §6.13, §7.4.3, §5.1.9. */
#include "check.h"

enum { MANY = 12, ROUNDS = 20 };

/* A communicator is freed while operations on it are pending, and another made that could take its place: messages of
 * one do not get into the other. */
static void freed_communicator(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm old, new;
        MPI_Request requests[3];
        int first = rank_of_world + round, second = 1000 * rank_of_world, sum = -1, other = -1, token = round;
        MPI_Comm_dup(MPI_COMM_WORLD, &old);
        MPI_Iallreduce(&first, &sum, 1, MPI_INT, MPI_SUM, old, &requests[0]);
        MPI_Ibcast(&token, 1, MPI_INT, size_of_world - 1, old, &requests[1]);
        MPI_Comm_free(&old);
        CHECK(old == MPI_COMM_NULL, "MPI-5.0 §7.4.3");
        MPI_Comm_dup(MPI_COMM_WORLD, &new);
        MPI_Iallreduce(&second, &other, 1, MPI_INT, MPI_SUM, new, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        int ranks = size_of_world * (size_of_world - 1) / 2;
        CHECK_EQUAL(sum, ranks + size_of_world * round, "MPI-5.0 §7.4.3");
        CHECK_EQUAL(other, 1000 * ranks, "MPI-5.0 §7.4.3");
        MPI_Comm_free(&new);
    }
}

/* A prepared operation keeps its communicator and its datatype. */
static void freed_under_prepared(void)
{
    MPI_Comm comm, others[4];
    MPI_Datatype pair;
    MPI_Request request;
    int data[2], *all = need(2 * (size_t)size_of_world * sizeof(int));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Allgather_init(data, 1, pair, all, 1, pair, comm, MPI_INFO_NULL, &request);
    MPI_Comm_free(&comm);
    MPI_Type_free(&pair);
    for (int i = 0; i < 4; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &others[i]);
    for (int round = 0; round < ROUNDS; round++) {
        data[0] = rank_of_world, data[1] = round;
        MPI_Start(&request);
        for (int i = 0; i < 4; i++)
            MPI_Barrier(others[i]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int rank = 0; rank < size_of_world; rank++)
            CHECK(all[2 * rank] == rank && all[2 * rank + 1] == round, "MPI-5.0 §6.13");
    }
    MPI_Request_free(&request);
    for (int i = 0; i < 4; i++)
        MPI_Comm_free(&others[i]);
    free(all);
}

/* Many prepared on one communicator, mixed with nonblocking ones, started by each process in an order of its own. */
static void started_in_any_order(void)
{
    MPI_Request prepared[MANY];
    int values[MANY], sums[MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Allreduce_init(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &prepared[i]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request between;
        int largest = -1, mine = 10 * rank_of_world + round;
        for (int i = 0; i < MANY; i++)
            values[i] = rank_of_world * i + round, sums[i] = -1;
        for (int i = 0; i < MANY / 2; i++)
            MPI_Start(&prepared[(i + rank_of_world * 5) % (MANY / 2)]);
        MPI_Iallreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &between);
        MPI_Startall(MANY / 2, prepared + MANY / 2);
        MPI_Wait(&between, MPI_STATUS_IGNORE);
        MPI_Waitall(MANY, prepared, MPI_STATUSES_IGNORE);
        CHECK_EQUAL(largest, 10 * (size_of_world - 1) + round, "MPI-5.0 §6.12");
        for (int i = 0; i < MANY; i++)
            CHECK_EQUAL(sums[i], i * size_of_world * (size_of_world - 1) / 2 + round * size_of_world, "MPI-5.0 §6.13");
    }
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&prepared[i]);
}

/* Different operations at once on one communicator, their results asked for in another order. */
static void at_once(void)
{
    enum { LONG = 50000 };
    int *big = need(LONG * sizeof(int)), *gathered = need((size_t)size_of_world * sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        int root = round % size_of_world, sum = -1, prefix = -1, mine = rank_of_world + round;
        MPI_Request requests[5];
        for (int i = 0; i < LONG; i++)
            big[i] = rank_of_world == root ? i + round : -1;
        MPI_Ibcast(big, LONG, MPI_INT, root, MPI_COMM_WORLD, &requests[0]);
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
        MPI_Iallgather(&mine, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
        MPI_Iscan(&mine, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
        /* A blocking one in between: MPI-5.0 §6.12. */
        int largest = -1;
        MPI_Allreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        for (int i = 4; i >= 0; i--)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        int ranks = size_of_world * (size_of_world - 1) / 2;
        CHECK_EQUAL(largest, size_of_world - 1 + round, "MPI-5.0 §6.12");
        CHECK_EQUAL(sum, ranks + size_of_world * round, "MPI-5.0 §6.12");
        CHECK_EQUAL(prefix, rank_of_world * (rank_of_world + 1) / 2 + (rank_of_world + 1) * round, "MPI-5.0 §6.12");
        for (int rank = 0; rank < size_of_world; rank++)
            CHECK_EQUAL(gathered[rank], rank + round, "MPI-5.0 §6.12");
        for (int i = 0; i < LONG; i++)
            CHECK(big[i] == i + round, "MPI-5.0 §6.12");
    }
    free(big);
    free(gathered);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "nonblocking_lifetimes");
    freed_communicator();
    freed_under_prepared();
    started_in_any_order();
    at_once();
    return check_finish();
}
