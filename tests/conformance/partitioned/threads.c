/* Threads mark partitions ready all at once, others look for arrivals, and one waits for a send of which no partition is
 * ready yet. MPI-5.0 §4.2.1, §11.6. */
#include "../threads/team.h"

enum { PER_THREAD = 16, PARTITIONS = THREADS * PER_THREAD, LENGTH = 300, ROUNDS = 30 };
static int out[PARTITIONS][LENGTH], in[PARTITIONS][LENGTH];
static MPI_Request send, receive;
static pthread_barrier_t rounds;

static void work(int thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&rounds);
        for (int i = 0; i < PER_THREAD; i++) {
            int p = round % 2 ? i * THREADS + thread : thread * PER_THREAD + i;
            for (int k = 0; k < LENGTH; k++)
                out[p][k] = round * 1000000 + rank_of_world * 10000 + p * 10 + k % 10;
            CHECK_EQUAL(MPI_Pready(p, send), MPI_SUCCESS, "MPI-5.0 §4.2.1");
        }
        for (int i = 0; i < PER_THREAD; i++) {
            int p = (thread * PER_THREAD + i + PER_THREAD) % PARTITIONS, flag = 0;
            while (!flag)
                MPI_Parrived(receive, p, &flag);
            for (int k = 0; k < LENGTH; k++)
                CHECK(in[p][k] == round * 1000000 + left_neighbour() * 10000 + p * 10 + k % 10, "MPI-5.0 §4.2.2",
                      "round %d partition %d", round, p);
        }
        pthread_barrier_wait(&rounds);
    }
}

/* The main thread starts and waits while the team works: its waits begin before all is ready. */
static void *lead(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&receive);
        MPI_Start(&send);
        pthread_barrier_wait(&rounds);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&rounds);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t leader;
    check_start_threads(&argc, &argv, "threads");
    pthread_barrier_init(&rounds, NULL, THREADS + 1);
    MPI_Psend_init(out, PARTITIONS, LENGTH, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, PARTITIONS, LENGTH, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    pthread_create(&leader, NULL, lead, NULL);
    run_team(work);
    pthread_join(leader, NULL);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    pthread_barrier_destroy(&rounds);
    return check_finish();
}
