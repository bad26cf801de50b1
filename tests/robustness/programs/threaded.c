/* threaded [race]: four threads of each rank send, receive and reduce, on a communicator that all have and on their own; with
 * "race" each also counts in a variable that nothing protects. Rank 0 says "ok threaded". */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 12
#define LONGEST (300 << 10)

static int rank, size, races, unprotected;
static MPI_Comm comms[THREADS];
static char out[THREADS][LONGEST], in[THREADS][LONGEST];

static void *work(void *argument)
{
    static const int lengths[] = {100, 5000, LONGEST};
    long me = (long)argument;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (long round = 0; round < ROUNDS; round++) {
        MPI_Request requests[4];
        int bytes = lengths[round % 3];
        long sent = round, came = -1, sum;
        memset(out[me], (int)round, bytes);
        MPI_Irecv(&came, 1, MPI_LONG, left, me, MPI_COMM_WORLD, requests);
        MPI_Isend(&sent, 1, MPI_LONG, right, me, MPI_COMM_WORLD, requests + 1);
        MPI_Irecv(in[me], bytes, MPI_BYTE, left, 0, comms[me], requests + 2);
        MPI_Isend(out[me], bytes, MPI_BYTE, right, 0, comms[me], requests + 3);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&came, &sum, 1, MPI_LONG, MPI_SUM, comms[me]);
        if (sum != round * size || in[me][bytes - 1] != round)
            MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Bcast(out[me], bytes, MPI_BYTE, 0, comms[me]);
        if (races)
            unprotected++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    races = argc > 1 && strcmp(argv[1], "race") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, comms + i);
    for (long i = 0; i < THREADS; i++)
        pthread_create(threads + i, NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(comms + i);
    }
    if (rank == 0)
        puts("ok threaded");
    MPI_Finalize();
    return 0;
}
