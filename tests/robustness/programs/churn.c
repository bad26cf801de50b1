/* churn: never ends by itself. Each rank keeps messages of many sizes in flight to all others, so that a kill at any
 * moment meets connections, bulk transfers and sleeping ranks. */
#include <mpi.h>
#include <stdlib.h>

enum { LARGEST = 2 << 20, ROUND_TAG = 5 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc(1, LARGEST), *in = calloc((size_t)size, LARGEST);
    MPI_Request *requests = malloc(sizeof(MPI_Request) * 2 * (size_t)size);

    for (unsigned round = 0;; round++) {
        int bytes = 1 << (round % 22);
        for (int peer = 0; peer < size; peer++) {
            MPI_Irecv(in + (size_t)peer * LARGEST, bytes, MPI_BYTE, peer, ROUND_TAG, MPI_COMM_WORLD, &requests[2 * peer]);
            MPI_Isend(out, bytes, MPI_BYTE, peer, ROUND_TAG, MPI_COMM_WORLD, &requests[2 * peer + 1]);
        }
        MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    }
}
