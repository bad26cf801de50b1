/* threads: four threads a rank, each in a ring of its own over all ranks, on one communicator and on one each; sizes around every limit. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60 };

static MPI_Comm comms[THREADS];

static void *work(void *argument)
{
    int thread = (int)(long)argument, right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *out = memory(LARGEST), *in = memory(LARGEST);
    for (int i = 0; i < ROUNDS; i++) {
        int bytes = SIZES[(i * 5 + thread) % (SIZES_COUNT - 4)];
        MPI_Request requests[2];
        fill(out, (size_t)bytes, rank, thread);
        MPI_Irecv(in, bytes, MPI_BYTE, left, thread, comms[thread], &requests[0]);
        MPI_Isend(out, bytes, MPI_BYTE, right, thread, comms[thread], &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        REQUIRE(holds(in, (size_t)bytes, left, thread));
    }
    free(out), free(in);
    return NULL;
}

static void round_of_all(void)
{
    pthread_t ids[THREADS];
    for (long thread = 0; thread < THREADS; thread++)
        REQUIRE(pthread_create(&ids[thread], NULL, work, (void *)thread) == 0);
    for (int thread = 0; thread < THREADS; thread++)
        pthread_join(ids[thread], NULL);
}

int main(int count, char **words)
{
    int provided;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(provided == MPI_THREAD_MULTIPLE);
    for (int thread = 0; thread < THREADS; thread++)
        comms[thread] = MPI_COMM_WORLD;
    round_of_all();
    for (int thread = 0; thread < THREADS; thread++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[thread]);
    round_of_all();
    for (int thread = 0; thread < THREADS; thread++)
        MPI_Comm_free(&comms[thread]);
    end("threads");
    return 0;
}
