/* flood MESSAGES LIMIT_MIB MODE: rank 0 sends MESSAGES of 1 KiB that nobody has posted a receive for. Rank 1 meanwhile is
 *     outside   asleep outside MPI for two seconds, or
 *     inside    blocked in MPI_Recv for a message of rank 2,
 * then receives all, in order, checked. Its resident memory, anonymous and shared, may not grow by more than LIMIT_MIB. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1024, FLOOD_TAG = 1, RELEASE_TAG = 2, IDLE_SECONDS = 2 };

/* The most this process ever had resident, in KiB. */
static long resident_peak_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

static void send_flood(long messages)
{
    long buffer[BYTES / sizeof(long)] = {0};
    for (long i = 0; i < messages; i++) {
        buffer[0] = buffer[BYTES / sizeof(long) - 1] = i;
        MPI_Send(buffer, BYTES, MPI_BYTE, 1, FLOOD_TAG, MPI_COMM_WORLD);
    }
}

static void receive_flood(long messages, long limit_mib, int inside)
{
    long buffer[BYTES / sizeof(long)], before = resident_peak_kib();
    int ignored;
    if (inside)
        MPI_Recv(&ignored, 1, MPI_INT, 2, RELEASE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        sleep(IDLE_SECONDS);
    for (long i = 0; i < messages; i++) {
        MPI_Recv(buffer, BYTES, MPI_BYTE, 0, FLOOD_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (buffer[0] != i || buffer[BYTES / sizeof(long) - 1] != i) {
            fprintf(stderr, "flood: message %ld holds %ld\n", i, buffer[0]);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    long grown_kib = resident_peak_kib() - before;
    printf("flood: %ld messages, receiver grew by %ld KiB\n", messages, grown_kib);
    if (before < 0 || grown_kib > limit_mib * 1024)
        MPI_Abort(MPI_COMM_WORLD, 4);
    else
        printf("ok flood\n");
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4 || size != 3) {
        fprintf(stderr, "usage: flood MESSAGES LIMIT_MIB outside|inside, on 3 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    long messages = atol(argv[1]);
    /* The first message makes the connection, so that its memory is not counted. */
    int ready = 0;
    if (rank == 0)
        MPI_Send(&ready, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&ready, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    if (rank == 0)
        send_flood(messages);
    else if (rank == 1)
        receive_flood(messages, atol(argv[2]), strcmp(argv[3], "inside") == 0);
    else if (strcmp(argv[3], "inside") == 0) {
        sleep(IDLE_SECONDS);
        MPI_Send(&rank, 1, MPI_INT, 1, RELEASE_TAG, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
