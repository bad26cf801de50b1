/* Every thread exchanges with the thread of its number on the partner rank, blocking and with windows of
 * nonblocking requests, on one communicator with a tag per thread and on a communicator per thread. */
#include "team.h"

enum { ROUNDS = 60, WINDOW = 16, LARGEST = 40000 };

static int separate_comms;

static MPI_Comm comm_of(int thread) { return separate_comms ? thread_comms[thread] : MPI_COMM_WORLD; }

static int bytes_of(int round) { return (int[]){ 0, 8, 100, 3000, 9000, LARGEST }[round % 6]; }

static void blocking(int thread)
{
    unsigned char *out = need(LARGEST), *in = need(LARGEST);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = bytes_of(round);
        unsigned seed = (unsigned)(round * THREADS + thread);
        MPI_Status status;
        fill_pattern(out, (size_t)bytes, seed);
        MPI_Sendrecv(out, bytes, MPI_BYTE, partner(), thread, in, bytes, MPI_BYTE, partner(), thread,
                     comm_of(thread), &status);
        CHECK(status.MPI_TAG == thread && status.MPI_SOURCE == partner(), "MPI-5.0 §11.6");
        CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §11.6");
        CHECK(has_pattern(in, (size_t)bytes, seed), "MPI-5.0 §11.6", "thread %d round %d", thread, round);
    }
    free(out);
    free(in);
}

/* Finishes all requests by the call that `form` chooses. */
static void finish(MPI_Request *requests, int count, int form)
{
    int indices[2 * WINDOW], done, index, flag = 0;
    if (form == 0) {
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    } else if (form == 1) {
        for (int left = count; left > 0; left--) {
            MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < count, "MPI-5.0 §3.7.5");
        }
    } else if (form == 2) {
        for (int left = count; left > 0;) {
            MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
            CHECK(done >= 0 && done <= left, "MPI-5.0 §3.7.5");
            left -= done;
        }
    } else {
        while (!flag)
            MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    }
}

static void windows(int thread)
{
    int out[WINDOW], in[WINDOW];
    MPI_Request requests[2 * WINDOW];
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < WINDOW; k++) {
            out[k] = round * 10000 + thread * 100 + k;
            in[k] = -1;
            MPI_Irecv(&in[k], 1, MPI_INT, partner(), thread, comm_of(thread), &requests[k]);
        }
        for (int k = 0; k < WINDOW; k++)
            MPI_Isend(&out[k], 1, MPI_INT, partner(), thread, comm_of(thread), &requests[WINDOW + k]);
        finish(requests, 2 * WINDOW, round % 4);
        for (int k = 0; k < WINDOW; k++)
            CHECK_EQUAL(in[k], round * 10000 + thread * 100 + k, "MPI-5.0 §3.5: order within a thread");
    }
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "pairs");
    create_thread_comms();
    for (separate_comms = 0; separate_comms < 2; separate_comms++) {
        run_team(blocking);
        run_team(windows);
    }
    free_thread_comms();
    return check_finish();
}
