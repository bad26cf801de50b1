/* No rank leaves a barrier before every rank has entered it: MPI-5.0 §6.3. The ranks count their entries in
 * memory that they share without MPI, so that nothing is assumed about timing. */
#include "check.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 300, PATH = 64 };

/* A page shared by all ranks of this machine, without a name that a killed job could leave behind. */
static atomic_long *shared_page(MPI_Comm comm, int rank)
{
    char path[PATH] = "";
    int file = -1;
    if (rank == 0) {
        file = memfd_create("barrier", 0);
        CHECK(file >= 0 && ftruncate(file, 4096) == 0, "a shared page");
        snprintf(path, PATH, "/proc/%d/fd/%d", (int)getpid(), file);
    }
    MPI_Bcast(path, PATH, MPI_CHAR, 0, comm);
    if (rank != 0)
        file = open(path, O_RDWR);
    CHECK(file >= 0, "a shared page");
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(page != MAP_FAILED, "a shared page");
    /* Every rank has opened it once this one may close it; the rounds begin with nobody counted. */
    int opened = 1, all = 0;
    MPI_Allreduce(&opened, &all, 1, MPI_INT, MPI_SUM, comm);
    close(file);
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
