/* Threads make, use and free communicators at the same time, each on a communicator of its own, and run
 * collectives on them (MPI-5.0 §11.6.2, §6.14). */
#include "team.h"

enum { ROUNDS = 25 };

static void use(MPI_Comm comm, int thread, int round)
{
    int rank, size, value = thread * 1000 + round, got = -1, sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0,
                 comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, value, "MPI-5.0 §11.6.2");
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * value, "MPI-5.0 §11.6.2");
    got = rank == round % size ? value : -1;
    MPI_Bcast(&got, 1, MPI_INT, round % size, comm);
    CHECK_EQUAL(got, value, "MPI-5.0 §11.6.2");
    MPI_Barrier(comm);
}

static void cycles(int thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm dup, split;
        MPI_Comm_dup(thread_comms[thread], &dup);
        use(dup, thread, round);
        MPI_Comm_split(dup, rank_of_world % 2, -rank_of_world, &split);
        use(split, thread, round);
        MPI_Comm_free(&dup);
        use(split, thread, round);
        MPI_Comm_free(&split);
    }
}

/* On one communicator, told apart by tags only. */
static void groups(int thread)
{
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        MPI_Comm_create_group(MPI_COMM_WORLD, world, thread, &comm);
        use(comm, thread, round);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "communicators");
    create_thread_comms();
    run_team(cycles);
    run_team(groups);
    free_thread_comms();
    return check_finish();
}
