/* Wait and Test of any, all and some of many requests, mixed with null requests: MPI-5.0 §3.7.5. */
#include "check.h"

enum { REQUESTS = 24 };
static MPI_Request requests[REQUESTS], sends[REQUESTS];
static MPI_Status statuses[REQUESTS];
static int got[REQUESTS], out[REQUESTS], indices[REQUESTS], finished[REQUESTS];

/* Every third slot is null; the others receive tag i. */
static int is_used(int i) { return i % 3 != 1; }

static int post(void)
{
    int used = 0;
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = MPI_REQUEST_NULL;
        finished[i] = !is_used(i);
        got[i] = -1;
        if (is_used(i)) {
            used++;
            MPI_Irecv(&got[i], 1, MPI_INT, left_neighbour(), i, MPI_COMM_WORLD, &requests[i]);
        }
    }
    return used;
}

/* Sends in an order unlike the posting order. */
static void send_all(int round)
{
    for (int k = 0; k < REQUESTS; k++) {
        int i = (k * 7 + round) % REQUESTS;
        sends[i] = MPI_REQUEST_NULL;
        out[i] = 100 * round + i;
        if (is_used(i))
            MPI_Isend(&out[i], 1, MPI_INT, right_neighbour(), i, MPI_COMM_WORLD, &sends[i]);
    }
}

static void check_finished(int i, const MPI_Status *status, int round)
{
    CHECK(i >= 0 && i < REQUESTS && !finished[i], "MPI-5.0 §3.7.5", "index %d", i);
    finished[i] = 1;
    CHECK(requests[i] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.5");
    CHECK(status->MPI_SOURCE == left_neighbour() && status->MPI_TAG == i, "MPI-5.0 §3.7.5");
    CHECK_EQUAL(got[i], 100 * round + i, "MPI-5.0 §3.7.5");
}

static int by_any(int round, int test)
{
    int index = -1, flag = 0;
    if (test) {
        MPI_Testany(REQUESTS, requests, &index, &flag, &statuses[0]);
        if (!flag) {
            CHECK_EQUAL(index, MPI_UNDEFINED, "MPI-5.0 §3.7.5");
            return 0;
        }
    } else {
        MPI_Waitany(REQUESTS, requests, &index, &statuses[0]);
    }
    check_finished(index, &statuses[0], round);
    return 1;
}

static int by_some(int round, int test)
{
    int done = -1;
    if (test)
        MPI_Testsome(REQUESTS, requests, &done, indices, statuses);
    else
        MPI_Waitsome(REQUESTS, requests, &done, indices, statuses);
    CHECK(done >= !test && done <= REQUESTS, "MPI-5.0 §3.7.5", "outcount %d", done);
    for (int k = 0; k < done; k++)
        check_finished(indices[k], &statuses[k], round);
    return done;
}

static int by_all(int round, int test)
{
    int flag = 1;
    if (test)
        MPI_Testall(REQUESTS, requests, &flag, statuses);
    else
        MPI_Waitall(REQUESTS, requests, statuses);
    if (!flag) {
        for (int i = 0; i < REQUESTS; i++)
            CHECK((requests[i] != MPI_REQUEST_NULL) == is_used(i), "MPI-5.0 §3.7.5: all or none");
        return 0;
    }
    int used = 0;
    for (int i = 0; i < REQUESTS; i++) {
        if (is_used(i)) {
            check_finished(i, &statuses[i], round);
            used++;
        } else {
            CHECK(status_is_empty(&statuses[i]), "MPI-5.0 §3.7.5: null requests");
        }
    }
    return used;
}

static void round_of(int round, int (*finish)(int, int), int test, int send_first)
{
    if (send_first)
        send_all(round);
    int left = post();
    if (!send_first)
        send_all(round);
    if (round % 2)
        MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE);
    while (left > 0)
        left -= finish(round, test);
    CHECK_EQUAL(left, 0, "MPI-5.0 §3.7.5");
    MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "completion_many");
    for (int round = 0; round < 20; round++)
        for (int test = 0; test < 2; test++)
            for (int send_first = 0; send_first < 2; send_first++) {
                round_of(round, by_any, test, send_first);
                round_of(round, by_some, test, send_first);
                round_of(round, by_all, test, send_first);
            }
    return check_finish();
}
