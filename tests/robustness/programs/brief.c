/* brief [threads] [messages]: begins and ends, with MPI_THREAD_MULTIPLE if it is to have threads; with messages of all lengths, a
 * communicator, a buffer and memory between, if it is to. What it sends has bytes that were never
 * written, as the padding of structures has. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST (1 << 20)

static void messages(void)
{
    int rank, size;
    double one = 1, sum;
    char buffer[1000];
    void *place;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int bytes = 8; bytes <= LONGEST; bytes *= 8) {
        char *out = malloc(bytes), *in = malloc(bytes);
        memset(out, 1, bytes / 2);
        MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % size, 0, comm, &request);
        MPI_Recv(in, bytes, MPI_BYTE, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(out), free(in);
    }
    MPI_Alloc_mem(100, MPI_INFO_NULL, &place);
    MPI_Free_mem(place);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Buffer_detach(&place, &size);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int provided, threads = 0, sends = 0;
    for (int i = 1; i < argc; i++) {
        threads |= strcmp(argv[i], "threads") == 0;
        sends |= strcmp(argv[i], "messages") == 0;
    }
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (sends)
        messages();
    MPI_Finalize();
    return 0;
}
