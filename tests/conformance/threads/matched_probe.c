/* Threads share the messages of one communicator by matched probes with wildcards: each message is received
 * by exactly one thread, whole. This is what MPI_Mprobe is for (MPI-5.0 §3.8.2). */
#include "team.h"

enum { MESSAGES = 100 }; /* from each thread */

static _Atomic int times[MESSAGES * THREADS];
static int stop_tag = MESSAGES * THREADS;

static int length_of(int id) { return 1 + id * 37 % 3000; }

static void receive(int form, MPI_Message *message, int *in, MPI_Status *status)
{
    int length = status_count(status, MPI_INT);
    MPI_Request request;
    if (form) {
        MPI_Mrecv(in, length, MPI_INT, message, status);
    } else {
        MPI_Imrecv(in, length, MPI_INT, message, &request);
        MPI_Wait(&request, status);
    }
    CHECK(*message == MPI_MESSAGE_NULL, "MPI-5.0 §3.8.3");
}

/* Odd threads poll, even ones block; each ends at its own last message. */
static void consume(int thread)
{
    int *in = need(3001 * sizeof(int));
    for (;;) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        int flag = 0;
        if (thread % 2 == 0)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        while (thread % 2 && !flag)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        int id = status.MPI_TAG;
        receive(thread < 2, &message, in, &status);
        if (id == stop_tag)
            break;
        CHECK_EQUAL(status_count(&status, MPI_INT), length_of(id), "MPI-5.0 §3.8.2");
        for (int k = 0; k < length_of(id); k++)
            CHECK(in[k] == id + k, "MPI-5.0 §3.8.3", "message %d", id);
        times[id]++;
    }
    free(in);
}

static void produce(void)
{
    MPI_Request *requests = need(MESSAGES * THREADS * sizeof *requests);
    int **buffers = need(MESSAGES * THREADS * sizeof *buffers);
    for (int id = 0; id < MESSAGES * THREADS; id++) {
        buffers[id] = need((size_t)length_of(id) * sizeof(int));
        for (int k = 0; k < length_of(id); k++)
            buffers[id][k] = id + k;
        MPI_Isend(buffers[id], length_of(id), MPI_INT, right_neighbour(), id, MPI_COMM_WORLD,
                  &requests[id]);
    }
    MPI_Waitall(MESSAGES * THREADS, requests, MPI_STATUSES_IGNORE);
    for (int t = 0; t < THREADS; t++)
        MPI_Send(NULL, 0, MPI_INT, right_neighbour(), stop_tag, MPI_COMM_WORLD);
    for (int id = 0; id < MESSAGES * THREADS; id++)
        free(buffers[id]);
    free(buffers);
    free(requests);
}

static void *produce_beside(void *unused)
{
    (void)unused;
    produce();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t producer;
    check_start_threads(&argc, &argv, "matched_probe");
    pthread_create(&producer, NULL, produce_beside, NULL);
    run_team(consume);
    pthread_join(producer, NULL);
    for (int id = 0; id < MESSAGES * THREADS; id++)
        CHECK_EQUAL(times[id], 1, "MPI-5.0 §3.8.2: received once");
    return check_finish();
}
