/* traced: a program whose calls are known, for the tool to count: 10 sends, one size, levels 1 + 2. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pcontrol(1);
    for (int i = 0; i < 10; i++) {
        int value;
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &request);
        MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += value;
    }
    MPI_Pcontrol(2, "more", 3.0);
    if (rank == 0 && sum == 45)
        printf("ok traced\n");
    MPI_Finalize();
    return sum != 45;
}
