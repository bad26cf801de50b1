/* idle LIMIT_MS CALL: rank 1 waits a second in CALL (recv, wait, waitany, probe, barrier, two-threads) for rank 0, which is
 * asleep outside MPI. The processor time of the waiting process may not pass LIMIT_MS milliseconds. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MESSAGES = 2 };

static double cpu_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void *receive(void *tag)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 0, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Waits until rank 0 has sent the messages with tags 0 and 1. */
static void wait_in(const char *call)
{
    static int tags[MESSAGES] = {0, 1};
    int value[MESSAGES], index;
    MPI_Request requests[MESSAGES];
    pthread_t thread;

    if (strcmp(call, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        receive(&tags[0]);
        receive(&tags[1]);
    } else if (strcmp(call, "recv") == 0) {
        receive(&tags[0]);
        receive(&tags[1]);
    } else if (strcmp(call, "probe") == 0) {
        MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive(&tags[0]);
        receive(&tags[1]);
    } else if (strcmp(call, "two-threads") == 0) {
        pthread_create(&thread, NULL, receive, &tags[1]);
        receive(&tags[0]);
        pthread_join(thread, NULL);
    } else {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Irecv(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
        if (strcmp(call, "waitany") == 0)
            MPI_Waitany(MESSAGES, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        sleep(1);
        if (strcmp(argv[2], "barrier") == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int tag = 0; tag < MESSAGES; tag++)
            MPI_Send(&rank, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else if (rank == 1) {
        double before = cpu_ms(), begin = MPI_Wtime();
        wait_in(argv[2]);
        double used = cpu_ms() - before, waited = MPI_Wtime() - begin;
        printf("idle: %s waited %.2f s and used %.2f ms\n", argv[2], waited, used);
        if (used > atof(argv[1]) || waited < 0.9)
            MPI_Abort(MPI_COMM_WORLD, 3);
        else
            printf("ok idle\n");
    }
    MPI_Finalize();
    return 0;
}
