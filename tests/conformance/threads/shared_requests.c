/* One thread starts requests, another completes them (MPI-5.0 §11.6.2 forbids only two at once on one). */
#include "team.h"

enum { BATCHES = 200, BATCH = 8 };

static int in[BATCHES][BATCH], out[BATCHES][BATCH];
static MPI_Request requests[BATCHES][2 * BATCH];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int started, taken;

static void start(int batch)
{
    for (int k = 0; k < BATCH; k++) {
        int tag = batch * BATCH + k;
        out[batch][k] = 3 * tag;
        MPI_Irecv(&in[batch][k], 1, MPI_INT, left_neighbour(), tag, MPI_COMM_WORLD, &requests[batch][k]);
        MPI_Isend(&out[batch][k], 1, MPI_INT, right_neighbour(), tag, MPI_COMM_WORLD,
                  &requests[batch][BATCH + k]);
    }
    pthread_mutex_lock(&lock);
    started++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Takes the next started batch, or returns -1 when all are taken. */
static int take(void)
{
    pthread_mutex_lock(&lock);
    while (taken == started && taken < BATCHES)
        pthread_cond_wait(&changed, &lock);
    int batch = taken < BATCHES ? taken++ : -1;
    pthread_mutex_unlock(&lock);
    return batch;
}

static void complete(int thread)
{
    for (int batch = take(); batch >= 0; batch = take()) {
        int flag = 0;
        if (thread % 2)
            MPI_Waitall(2 * BATCH, requests[batch], MPI_STATUSES_IGNORE);
        while (thread % 2 == 0 && !flag)
            MPI_Testall(2 * BATCH, requests[batch], &flag, MPI_STATUSES_IGNORE);
        for (int k = 0; k < BATCH; k++)
            CHECK_EQUAL(in[batch][k], 3 * (batch * BATCH + k), "MPI-5.0 §11.6.2");
    }
}

static void *start_all(void *unused)
{
    (void)unused;
    for (int batch = 0; batch < BATCHES; batch++)
        start(batch);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t starter;
    check_start_threads(&argc, &argv, "shared_requests");
    pthread_create(&starter, NULL, start_all, NULL);
    run_team(complete);
    pthread_join(starter, NULL);
    return check_finish();
}
