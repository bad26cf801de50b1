/* Threads run blocking, nonblocking and persistent collectives at the same time, each on a communicator of its own, and
 * wait for one another's requests: any thread's wait moves all threads' operations (MPI-5.0 §6.14, §11.6.2). */
#include "team.h"

enum { ROUNDS = 20, DEPTH = 6, LONG = 20000 };

static int sum_of_ranks(void) { return size_of_world * (size_of_world - 1) / 2; }

static void mixture(int thread)
{
    MPI_Comm comm = thread_comms[thread];
    MPI_Request prepared, pending[DEPTH];
    int in[DEPTH], out[DEPTH], value = 0, all = 0, *big = need(LONG * sizeof(int));
    uint32_t state = (uint32_t)(thread * 977 + 1);
    MPI_Allreduce_init(&value, &all, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &prepared);
    for (int round = 0; round < ROUNDS; round++) {
        int root = round % size_of_world, right = -1, index;
        value = rank_of_world + round + thread;
        all = -1;
        MPI_Start(&prepared);
        for (int i = 0; i < DEPTH; i++) {
            in[i] = rank_of_world * (i + 1) + thread, out[i] = -1;
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, &pending[i]);
        }
        for (int i = 0; i < LONG; i++)
            big[i] = rank_of_world == root ? i + round : -1;
        MPI_Bcast(big, LONG, MPI_INT, root, comm);
        for (int i = 0; i < LONG; i++)
            CHECK(big[i] == i + round, "MPI-5.0 §6.4", "thread %d", thread);
        MPI_Sendrecv(&value, 1, MPI_INT, right_neighbour(), 0, &right, 1, MPI_INT, left_neighbour(), 0, comm, MPI_STATUS_IGNORE);
        CHECK_EQUAL(right, left_neighbour() + round + thread, "MPI-5.0 §3.5");
        /* Some by test, the rest as they come. */
        int flag = 0, first = draw(&state, DEPTH);
        while (!flag)
            MPI_Test(&pending[first], &flag, MPI_STATUS_IGNORE);
        for (int left = DEPTH - 1; left > 0; left--)
            MPI_Waitany(DEPTH, pending, &index, MPI_STATUS_IGNORE);
        for (int i = 0; i < DEPTH; i++)
            CHECK_EQUAL(out[i], sum_of_ranks() * (i + 1) + size_of_world * thread, "MPI-5.0 §6.12");
        MPI_Wait(&prepared, MPI_STATUS_IGNORE);
        CHECK_EQUAL(all, sum_of_ranks() + size_of_world * (round + thread), "MPI-5.0 §6.13");
    }
    MPI_Request_free(&prepared);
    free(big);
}

/* What one thread begins, another completes. */
static MPI_Request begun[THREADS];
static int from[THREADS], to[THREADS];

static void begin(int thread)
{
    from[thread] = rank_of_world + thread, to[thread] = -1;
    MPI_Iscan(&from[thread], &to[thread], 1, MPI_INT, MPI_SUM, thread_comms[thread], &begun[thread]);
}

static void complete(int thread)
{
    int other = (thread + 1) % THREADS, below = rank_of_world + 1;
    MPI_Wait(&begun[other], MPI_STATUS_IGNORE);
    CHECK_EQUAL(to[other], rank_of_world * below / 2 + below * other, "MPI-5.0 §11.6.2");
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "collectives");
    create_thread_comms();
    run_team(mixture);
    for (int round = 0; round < 20; round++) {
        run_team(begin);
        run_team(complete);
    }
    free_thread_comms();
    return check_finish();
}
