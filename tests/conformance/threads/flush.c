/* Several threads flush one buffer at once, asleep until its message is received, while another sleeps in a receive: each
 * is woken. And flushes that are requests, tested, waited for and freed. MPI-5.0 §3.6. */
#include "team.h"
#include <unistd.h>

enum { LENGTH = 1 << 20, ROUNDS = 4, DATA = 1, GO = 2, FLUSHED = 3 };
static char data[LENGTH], space[2 * LENGTH + 2 * MPI_BSEND_OVERHEAD];
static pthread_barrier_t all;
static int other;

static void flush(int thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        int token;
        if (thread == 0)
            MPI_Bsend(data, LENGTH, MPI_BYTE, other, DATA, MPI_COMM_WORLD);
        pthread_barrier_wait(&all);
        if (thread == 0) {
            MPI_Recv(&token, 1, MPI_INT, other, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (thread == 1) {
            MPI_Request request;
            MPI_Buffer_iflush(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Buffer_flush();
        }
        if (thread != 0)
            MPI_Send(&round, 1, MPI_INT, other, FLUSHED, MPI_COMM_WORLD);
        pthread_barrier_wait(&all);
    }
}

/* Receives late, and tells the sender's first thread once all others have flushed: nothing but this message wakes them. */
static void take(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        usleep(150000);
        MPI_Recv(data, LENGTH, MPI_BYTE, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_pattern(data, LENGTH, 9), "MPI-5.0 §3.6");
        for (int i = 1, token; i < THREADS; i++)
            MPI_Recv(&token, 1, MPI_INT, other, FLUSHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&round, 1, MPI_INT, other, GO, MPI_COMM_WORLD);
    }
}

static void requests(void)
{
    MPI_Request flushes[3];
    int flag = 0;
    MPI_Bsend(data, LENGTH, MPI_BYTE, other, DATA, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Buffer_iflush(&flushes[i]);
    MPI_Test(&flushes[0], &flag, MPI_STATUS_IGNORE);
    /* The message may have left, though the other has not received it. */
    CHECK_EQUAL(flag, flushes[0] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    MPI_Request_free(&flushes[1]);
    CHECK(flushes[1] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    MPI_Send(&flag, 1, MPI_INT, other, GO, MPI_COMM_WORLD);
    MPI_Waitall(3, flushes, MPI_STATUSES_IGNORE);
    /* Nothing is in the buffer: complete at once. */
    MPI_Buffer_iflush(&flushes[0]);
    MPI_Test(&flushes[0], &flag, MPI_STATUS_IGNORE);
    CHECK(flag && flushes[0] == MPI_REQUEST_NULL, "MPI-5.0 §3.6");
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "flush");
    other = rank_of_world ^ 1;
    if (other < size_of_world && rank_of_world < other) {
        void *address;
        int size, token;
        pthread_barrier_init(&all, NULL, THREADS);
        fill_pattern(data, LENGTH, 9);
        MPI_Buffer_attach(space, sizeof space);
        run_team(flush);
        MPI_Recv(&token, 1, MPI_INT, other, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        requests();
        MPI_Buffer_detach(&address, &size);
        CHECK(address == space && size == sizeof space, "MPI-5.0 §3.6");
        pthread_barrier_destroy(&all);
    } else if (other < size_of_world) {
        int token = 0;
        take();
        MPI_Send(&token, 1, MPI_INT, other, GO, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, other, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, LENGTH, MPI_BYTE, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return check_finish();
}
