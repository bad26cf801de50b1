/* Generalized requests that other threads complete, while their owner sleeps in a wait; and the race of freeing with
 * completing, after which the free function has been called once. MPI-5.0 §13.2. */
#include "team.h"
#include <unistd.h>

enum { ROUNDS = 200 };
static _Atomic int frees;

static int query(void *extra_state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra_state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int free_work(void *extra_state)
{
    (void)extra_state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra_state, int complete)
{
    (void)extra_state;
    (void)complete;
    return MPI_SUCCESS;
}

static MPI_Request requests[THREADS];
static int values[THREADS];
static pthread_barrier_t both;

/* Threads 1 and up complete; thread 0 waits for all of them, long enough asleep in the first rounds. */
static void complete_for_another(int thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (thread == 0)
            for (int t = 1; t < THREADS; t++)
                MPI_Grequest_start(query, free_work, cancel, &values[t], &requests[t]);
        pthread_barrier_wait(&both);
        if (thread > 0) {
            MPI_Request mine = requests[thread];
            if (round < 3)
                usleep(30000);
            values[thread] = round + thread;
            pthread_barrier_wait(&both);
            CHECK_EQUAL(MPI_Grequest_complete(mine), MPI_SUCCESS, "MPI-5.0 §13.2");
        } else {
            MPI_Status statuses[THREADS];
            pthread_barrier_wait(&both);
            MPI_Waitall(THREADS - 1, requests + 1, statuses + 1);
            for (int t = 1; t < THREADS; t++)
                CHECK_EQUAL(status_count(&statuses[t], MPI_INT), round + t, "MPI-5.0 §13.2");
        }
        pthread_barrier_wait(&both);
    }
}

/* Completed late by a thread that sleeps meanwhile: the waiter has gone to sleep. */
static void wake_a_sleeper(int thread)
{
    for (int round = 0; round < 3; round++) {
        if (thread == 0)
            MPI_Grequest_start(query, free_work, cancel, &values[0], &requests[0]);
        pthread_barrier_wait(&both);
        if (thread == 1) {
            usleep(100000);
            MPI_Grequest_complete(requests[0]);
        }
        if (thread == 0) {
            MPI_Request mine = requests[0];
            MPI_Wait(&mine, MPI_STATUS_IGNORE);
        }
        pthread_barrier_wait(&both);
    }
}

static void free_and_complete(int thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (thread == 0)
            MPI_Grequest_start(query, free_work, cancel, &values[0], &requests[0]);
        pthread_barrier_wait(&both);
        MPI_Request copy = requests[0];
        int before = frees;
        pthread_barrier_wait(&both);
        if (thread == 0)
            MPI_Request_free(&copy);
        if (thread == 1)
            MPI_Grequest_complete(copy);
        pthread_barrier_wait(&both);
        CHECK_EQUAL(frees, before + 1, "MPI-5.0 §13.2: once");
        pthread_barrier_wait(&both);
    }
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "generalized");
    pthread_barrier_init(&both, NULL, THREADS);
    run_team(wake_a_sleeper);
    run_team(complete_for_another);
    CHECK_EQUAL(frees, 3 + ROUNDS * (THREADS - 1), "MPI-5.0 §13.2: once each");
    run_team(free_and_complete);
    pthread_barrier_destroy(&both);
    return check_finish();
}
