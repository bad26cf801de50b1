/* waits FILE [init]: every rank waits in a call of its own for rank 0, which computes; with `init` all in MPI_Init, but for
 * the one that makes the file. Who computes says so. The job never ends: it is to be asked what it waits for, by SIGUSR2. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void compute(void)
{
    puts("computes");
    fflush(stdout);
    for (;;)
        usleep(10000);
}

static void wait_in_init(const char *path)
{
    if (fopen(path, "wx"))
        compute();
    MPI_Init(NULL, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        wait_in_init(argv[1]);
    int rank, word = 0;
    MPI_Comm comm, part;
    MPI_Win window;
    MPI_File file;
    MPI_Request request;
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    switch (rank) {
    case 0: compute(); break;
    case 1: MPI_Finalize(); break;
    case 2: MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 3: MPI_Ssend(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD); break;
    case 4: MPI_Probe(0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 5: MPI_Barrier(comm); break;
    case 6: MPI_Win_free(&window); break;
    case 7: MPI_File_close(&file); break;
    case 8: MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part); break;
    case 9:
        MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    }
    return 0;
}
