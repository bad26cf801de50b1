/* Nonblocking collective operations as requests: MPI-5.0 §6.12. They go on in whatever call waits (§3.8.1, progress),
 * complete in any order, and mix with point-to-point requests in every completion call. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 200, MANY = 50, TAG = 5 };

/* Nobody's barrier is over before the last has entered, who does so only after a message of each that says it may. */
static void not_before_the_last(void)
{
    int last = size_of_world - 1, flag = 1, token = 0;
    MPI_Request barrier;
    if (size_of_world < 2)
        return;
    if (rank_of_world == last) {
        for (int rank = 0; rank < last; rank++)
            MPI_Recv(&token, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        for (int i = 0; i < 100; i++) {
            MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag, "MPI-5.0 §6.3", "over before rank %d has entered", last);
            MPI_Request_get_status(barrier, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag, "MPI-5.0 §6.3");
        }
        MPI_Send(&token, 1, MPI_INT, last, TAG, MPI_COMM_WORLD);
    }
    MPI_Status status;
    MPI_Wait(&barrier, &status);
    CHECK(barrier == MPI_REQUEST_NULL, "MPI-5.0 §6.12");
}

/* Every rank but the last waits for a message of the last alone, which it sends after its barrier is over: so theirs
 * have to go on in the receive, asleep or not. */
static void in_another_wait(int pause)
{
    int last = size_of_world - 1, token = -1;
    for (int round = 0; round < ROUNDS / (pause ? 20 : 1); round++) {
        MPI_Request barrier;
        if (pause && rank_of_world == last)
            usleep(30000);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        if (rank_of_world == last) {
            MPI_Wait(&barrier, MPI_STATUS_IGNORE);
            for (int rank = 0; rank < last; rank++)
                MPI_Send(&round, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&token, 1, MPI_INT, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQUAL(token, round, "MPI-5.0 §3.5");
            MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        }
    }
}

/* Many at once, completed in another order than begun, by every call that completes. */
static void many_at_once(void)
{
    MPI_Request requests[MANY + 2];
    MPI_Status statuses[MANY + 2];
    int indices[MANY + 2], count, flag, right = (rank_of_world + 1) % size_of_world;
    int left = (rank_of_world + size_of_world - 1) % size_of_world;
    for (int way = 0; way < 5; way++) {
        int out = 100 * way + rank_of_world, in = -1;
        MPI_Irecv(&in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[MANY]);
        for (int i = 0; i < MANY; i++)
            MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[MANY + 1]);
        if (way == 0) {
            MPI_Waitall(MANY + 2, requests, statuses);
            CHECK_EQUAL(statuses[MANY].MPI_SOURCE, left, "MPI-5.0 §3.7.5");
        } else if (way == 1) {
            for (int i = MANY + 1; i >= 0; i--)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        } else if (way == 2) {
            for (int done = 0; done < MANY + 2; done++) {
                int index;
                MPI_Waitany(MANY + 2, requests, &index, MPI_STATUS_IGNORE);
                CHECK(index >= 0 && index < MANY + 2, "MPI-5.0 §3.7.5");
            }
        } else if (way == 3) {
            for (int done = 0; done < MANY + 2; done += count) {
                MPI_Waitsome(MANY + 2, requests, &count, indices, MPI_STATUSES_IGNORE);
                CHECK(count > 0, "MPI-5.0 §3.7.5");
            }
        } else {
            do
                MPI_Testall(MANY + 2, requests, &flag, MPI_STATUSES_IGNORE);
            while (!flag);
        }
        for (int i = 0; i < MANY + 2; i++)
            CHECK(requests[i] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
        CHECK_EQUAL(in, 100 * way + left, "MPI-5.0 §3.5");
    }
}

static void *wait_for(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

/* One thread sleeps in the barrier's wait, another in a receive; either may be the one that watches. */
static void two_sleepers(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int last = size_of_world - 1, token = 0;
    for (int round = 0; round < 6; round++) {
        MPI_Request barrier;
        pthread_t waiter;
        if (rank_of_world == last)
            usleep(20000);
        MPI_Ibarrier(comm, &barrier);
        CHECK(pthread_create(&waiter, NULL, wait_for, &barrier) == 0, "a thread");
        if (rank_of_world == last) {
            pthread_join(waiter, NULL);
            for (int rank = 0; rank < last; rank++)
                MPI_Send(&token, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&token, 1, MPI_INT, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            pthread_join(waiter, NULL);
        }
        CHECK(barrier == MPI_REQUEST_NULL, "MPI-5.0 §6.12");
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "nonblocking_progress");
    not_before_the_last();
    in_another_wait(0);
    in_another_wait(1);
    many_at_once();
    two_sleepers();
    return check_finish();
}
