/* A token travels around a ring of processes, and each adds its rank to it.
 *
 *     mpicc ring.c -o ring && mpiexec -n 4 ring
 */
#include <mpi.h>
#include <stdio.h>

enum { LAPS = 1000, TAG = 0 };

int main(int argc, char **argv)
{
    int rank, size;
    long token = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    double begin = MPI_Wtime();
    for (int lap = 0; lap < LAPS; lap++) {
        if (rank == 0) {
            /* Rank 0 starts each lap. The receive is posted first: with one process the ring is a message to
             * oneself, and a blocking send to oneself with nobody receiving would wait for ever. */
            MPI_Request arrival;
            long back;
            MPI_Irecv(&back, 1, MPI_LONG, left, TAG, MPI_COMM_WORLD, &arrival);
            MPI_Send(&token, 1, MPI_LONG, right, TAG, MPI_COMM_WORLD);
            MPI_Wait(&arrival, MPI_STATUS_IGNORE);
            token = back;
        } else {
            MPI_Recv(&token, 1, MPI_LONG, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, right, TAG, MPI_COMM_WORLD);
        }
    }
    double seconds = MPI_Wtime() - begin;

    int wrong = 0;
    if (rank == 0) {
        long expected = (long)LAPS * size * (size - 1) / 2;
        wrong = token != expected;
        printf("ring: %d laps over %d ranks, token %ld (%s), %.2f us a hop\n", LAPS, size, token,
               wrong ? "wrong" : "right", seconds * 1e6 / LAPS / size);
    }
    MPI_Finalize();
    return wrong;
}
