/* one_way SECONDS: rank 0 sends short messages to rank 1 for that long; rank 1 receives them in order, checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size != 2) {
        fprintf(stderr, "usage: one_way SECONDS, on 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double end = MPI_Wtime() + atof(argv[1]);
    long number = 0, message[32] = {0};
    int last = 0;
    for (; !last; number++) {
        if (rank == 0) {
            message[0] = number;
            last = message[1] = MPI_Wtime() >= end;
            MPI_Send(message, 32, MPI_LONG, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(message, 32, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            last = message[1] != 0;
            if (message[0] != number) {
                fprintf(stderr, "one_way: message %ld holds %ld\n", number, message[0]);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        }
    }
    MPI_Finalize();
    if (rank == 1)
        printf("ok one_way\n");
    return 0;
}
