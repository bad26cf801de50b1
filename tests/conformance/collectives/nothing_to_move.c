/* Collective operations in which a rank has nothing to move: all ranks alike, told by a predefined datatype on some and by a derived
 * one on others; or some ranks only, where lengths may differ. Each row goes over the communicator's first operations and far beyond,
 * between operations with data. */
#include "check.h"

enum { TIMES = 24, RANKS_MAX = 64 };

static MPI_Comm comm;
static MPI_Datatype pairs; /* two numbers, and on odd ranks what stands for them */
static int mine[2 * RANKS_MAX], theirs[2 * RANKS_MAX], none[RANKS_MAX], counts[RANKS_MAX], places[RANKS_MAX];

/* That the ranks are still in step. */
static void sum_of_ranks(int time)
{
    int sum = 0, summand = rank_of_world + time;
    MPI_Allreduce(&summand, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size_of_world * (size_of_world - 1) / 2 + size_of_world * time, "MPI-5.0 §6.9.6");
}

/* No rank moves anything. Odd ranks pass a type that the library has to look at closely. */
static void on_all(int time)
{
    MPI_Datatype type = rank_of_world % 2 ? pairs : MPI_INT;
    int root = time % size_of_world;
    MPI_Bcast(mine, 0, type, root, comm);
    MPI_Gather(mine, 0, type, theirs, 0, type, root, comm);
    MPI_Scatter(mine, 0, type, theirs, 0, type, root, comm);
    MPI_Allgather(mine, 0, type, theirs, 0, type, comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, type, theirs, none, none, type, comm);
    MPI_Alltoall(MPI_IN_PLACE, 0, type, theirs, 0, type, comm);
    MPI_Alltoallv(mine, none, none, type, theirs, none, none, type, comm);
    MPI_Reduce(mine, theirs, 0, MPI_INT, MPI_SUM, root, comm);
    MPI_Allreduce(MPI_IN_PLACE, theirs, 0, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter(mine, theirs, none, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(mine, theirs, 0, MPI_INT, MPI_SUM, comm);
    MPI_Scan(mine, theirs, 0, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(mine, theirs, 0, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < 2 * RANKS_MAX; i++)
        CHECK(theirs[i] == -1, "MPI-5.0 §6.2: nothing is received");
    sum_of_ranks(time);
}

/* Ranks whose number has this rest have a number each, the others nothing. */
static void on_some(int time)
{
    int root = time % size_of_world, has = rank_of_world % 2 == time / 2 % 2, total = 0;
    for (int r = 0; r < size_of_world; r++) {
        counts[r] = r % 2 == time / 2 % 2;
        places[r] = total;
        total += counts[r];
    }
    mine[0] = 100 * rank_of_world + time;
    MPI_Gatherv(mine, has, MPI_INT, theirs, counts, places, MPI_INT, root, comm);
    for (int r = 0; r < size_of_world && rank_of_world == root; r++)
        if (counts[r])
            CHECK_EQUAL(theirs[places[r]], 100 * r + time, "MPI-5.0 §6.5");
    MPI_Scatterv(theirs, counts, places, MPI_INT, mine + 1, has, MPI_INT, root, comm);
    if (has)
        CHECK_EQUAL(mine[1], mine[0], "MPI-5.0 §6.6");
    /* To rank 0 alone. */
    int to[RANKS_MAX] = {has}, *from = rank_of_world ? none : counts;
    MPI_Alltoallv(mine, to, none, MPI_INT, theirs, from, places, MPI_INT, comm);
    for (int r = 0; r < size_of_world && rank_of_world == 0; r++)
        if (counts[r])
            CHECK_EQUAL(theirs[places[r]], 100 * r + time, "MPI-5.0 §6.8");
    sum_of_ranks(time);
    memset(theirs, -1, sizeof theirs);
}

/* The same by requests, of which some ranks' are of nothing. */
static void by_requests(int time)
{
    int root = time % size_of_world, has = rank_of_world == root;
    for (int r = 0; r < size_of_world; r++)
        counts[r] = r == root;
    MPI_Request requests[3];
    MPI_Ibcast(mine, 0, rank_of_world % 2 ? pairs : MPI_INT, root, comm, &requests[0]);
    mine[0] = time;
    MPI_Igatherv(mine, has, MPI_INT, theirs, counts, none, MPI_INT, 0, comm, &requests[1]);
    MPI_Allreduce_init(MPI_IN_PLACE, theirs + 1, 0, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[2]);
    for (int start = 0; start < 2; start++) {
        MPI_Start(&requests[2]);
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        CHECK(requests[2] != MPI_REQUEST_NULL, "MPI-5.0 §6.13: a persistent request stays");
    }
    MPI_Request_free(&requests[2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank_of_world == 0)
        CHECK_EQUAL(theirs[0], time, "MPI-5.0 §6.12");
    theirs[0] = -1;
    sum_of_ranks(time);
}

static void row(void (*of)(int time))
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    memset(theirs, -1, sizeof theirs);
    for (int time = 0; time < TIMES; time++)
        of(time);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "nothing_to_move");
    MPI_Type_contiguous(2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    row(on_all);
    row(on_some);
    row(by_requests);
    MPI_Type_free(&pairs);
    return check_finish();
}
