/* exchange [LARGEST]: a whole small life of a job. Every rank exchanges messages of all sizes up to LARGEST bytes (4 MiB
 * unless given) around the ring and with rank 0, all checked, with a collective between. Rank 0 prints "ok exchange ranks=N"
 * on the file that WEFT_TEST_RESULT names, or on standard output. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "exchange: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fill(unsigned char *buffer, size_t bytes, int owner)
{
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = (unsigned char)(i * 7 + (size_t)owner * 13 + bytes);
}

static void around_the_ring(unsigned char *out, unsigned char *in, unsigned char *expected, int bytes)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];
    fill(out, (size_t)bytes, rank);
    fill(expected, (size_t)bytes, left);
    memset(in, 0, (size_t)bytes);
    MPI_Irecv(in, bytes, MPI_BYTE, left, bytes, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, right, bytes, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    require(memcmp(in, expected, (size_t)bytes) == 0, "wrong bytes around the ring");
}

static void with_rank_0(void)
{
    int value = rank * 3 + 1;
    if (rank != 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        require(value == -(rank * 3 + 1), "wrong answer of rank 0");
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        require(value == status.MPI_SOURCE * 3 + 1, "wrong value at rank 0");
        value = -value;
        MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int largest = argc > 1 ? atoi(argv[1]) : 4 << 20, sum;

    unsigned char *buffers = malloc((size_t)largest * 3 + 3);
    require(buffers != NULL, "no memory");
    for (long bytes = 1; bytes <= largest; bytes *= 4) {
        around_the_ring(buffers, buffers + largest, buffers + 2 * (size_t)largest, (int)bytes);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        require(sum == size * (size - 1) / 2, "wrong sum");
    }
    with_rank_0();
    MPI_Barrier(MPI_COMM_WORLD);
    free(buffers);

    const char *result = getenv("WEFT_TEST_RESULT");
    if (rank == 0) {
        FILE *out = result ? fopen(result, "w") : stdout;
        require(out != NULL, "cannot write the result");
        fprintf(out, "ok exchange ranks=%d\n", size);
        fflush(out);
    }
    MPI_Finalize();
    return 0;
}
