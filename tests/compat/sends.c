/* Sends of 8 bytes, to be counted: by the standard ABI and by another they differ by the conversion of the arguments. */
#include <mpi.h>

enum { SENDS = 64 };

__attribute__((noinline)) void counted_sends(void)
{
    static double word;
    for (int send = 0; send < SENDS; send++)
        MPI_Send(&word, 1, MPI_DOUBLE, 0, send, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static double words[SENDS];
    MPI_Request requests[SENDS];
    MPI_Init(&argc, &argv);
    for (int send = 0; send < SENDS; send++)
        MPI_Irecv(&words[send], 1, MPI_DOUBLE, 0, send, MPI_COMM_WORLD, &requests[send]);
    counted_sends();
    MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
