/* No rank leaves a barrier before every rank has entered it: MPI-5.0 §6.3. The ranks count their entries in
 * memory that they share without MPI, so that nothing is assumed about timing. */
#include "check.h"
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 300, PATH = 64 };

/* A page shared by all ranks of this machine; its name is gone before this returns. */
static atomic_long *shared_page(MPI_Comm comm, int rank)
{
    char path[PATH] = "/tmp/weft-barrier-XXXXXX";
    int file = -1;
    if (rank == 0) {
        file = mkstemp(path);
        CHECK(file >= 0 && ftruncate(file, 4096) == 0, "a temporary file");
    }
    MPI_Bcast(path, PATH, MPI_CHAR, 0, comm);
    FILE *stream = rank == 0 ? fdopen(file, "r+") : fopen(path, "r+");
    CHECK(stream != NULL, "the shared file");
    MPI_Barrier(comm);
    if (rank == 0)
        unlink(path);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(stream), 0);
    CHECK(page != MAP_FAILED, "the shared page");
    fclose(stream);
    return page;
}

static void rounds(MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    atomic_long *entered = shared_page(comm, rank);
    for (long round = 1; round <= ROUNDS; round++) {
        if (round % size == rank)
            usleep(200);
        atomic_fetch_add(entered, 1);
        MPI_Barrier(comm);
        long seen = atomic_load(entered);
        CHECK(seen >= round * size, "MPI-5.0 §6.3", "round %ld: %ld of %ld have entered", round, seen,
              round * size);
    }
    munmap((void *)entered, 4096);
}

int main(int argc, char **argv)
{
    MPI_Comm machine, half;
    check_start(&argc, &argv, "barrier");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    rounds(machine);
    MPI_Comm_split(machine, rank_of_world % 2, -rank_of_world, &half);
    rounds(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&machine);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return check_finish();
}
