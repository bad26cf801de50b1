/* Threads run blocking collectives at the same time, each on a communicator of its own, of lengths that go by each way that
 * memory is shared, and some by messages; threads come and go in between (MPI-5.0 §6.14, §11.6.2). */
#include "team.h"

enum { ROUNDS = 120, LONG = 30000, TEAMS = 3 };

static const int lengths[] = { 1, 1, 20, 1, 700, 1, 5000, LONG };

static void stream(int thread)
{
    MPI_Comm comm = thread_comms[thread];
    int size = size_of_world, *in = need(LONG * sizeof(int)), *out = need(LONG * sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        int length = lengths[(round + thread) % (int)(sizeof lengths / sizeof *lengths)], root = (round + thread) % size;
        for (int i = 0; i < length; i++)
            in[i] = rank_of_world + i + thread * round;
        MPI_Allreduce(in, out, length, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < length; i++)
            CHECK_EQUAL(out[i], size * (size - 1) / 2 + size * (i + thread * round), "MPI-5.0 §6.9.6");
        for (int i = 0; i < length; i++)
            in[i] = rank_of_world == root ? i - round : -1;
        MPI_Bcast(in, length, MPI_INT, root, comm);
        for (int i = 0; i < length; i++)
            CHECK_EQUAL(in[i], i - round, "MPI-5.0 §6.4");
        int block = length / size;
        for (int i = 0; i < block * size; i++)
            in[i] = rank_of_world * 1000 + i / (block ? block : 1) + thread;
        MPI_Alltoall(in, block, MPI_INT, out, block, MPI_INT, comm);
        for (int i = 0; i < block * size; i++)
            CHECK_EQUAL(out[i], i / block * 1000 + rank_of_world + thread, "MPI-5.0 §6.8");
        MPI_Barrier(comm);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "blocking_collectives");
    create_thread_comms();
    for (int team = 0; team < TEAMS; team++)
        run_team(stream);
    free_thread_comms();
    return check_finish();
}
