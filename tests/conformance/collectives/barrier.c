/* No rank leaves a barrier before every rank has entered it: MPI-5.0 §6.3, whatever operation is before it. The ranks count their
 * entries in memory that they share without MPI, so that nothing is assumed about timing. */
#include "check.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 360, PATH = 64, RANKS_MAX = 64, LONG = 100000 };

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

static MPI_Datatype odd_type; /* a number, on odd ranks by a derived type */
static int numbers[2 * RANKS_MAX], counts[RANKS_MAX], places[RANKS_MAX];
static char bytes[LONG];

/* An operation of each kind in turn: led by a root or not, short or long, by a request, of nothing on some ranks or on all. */
static void operation(MPI_Comm comm, int rank, int size, int round)
{
    int root = round / 12 % size, value = 0;
    MPI_Request request;
    numbers[0] = rank == root ? round : -1;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 2;
        places[r] = r;
    }
    switch (round % 12) {
    case 0: break;
    case 1: MPI_Bcast(numbers, 1, odd_type, root, comm); break;
    case 2: MPI_Bcast(bytes, LONG, MPI_CHAR, root, comm); break;
    case 3: MPI_Bcast(numbers, 0, odd_type, root, comm); break;
    case 4: MPI_Scatter(numbers, 1, MPI_INT, &value, 1, odd_type, root, comm); break;
    case 5: MPI_Scatter(numbers, 1, MPI_INT, rank == root ? MPI_IN_PLACE : &value, 1, MPI_INT, root, comm); break;
    case 6: MPI_Scatterv(numbers, counts, places, MPI_INT, &value, rank % 2, MPI_INT, root, comm); break;
    case 7: MPI_Scatterv(numbers, counts, places, MPI_INT, &value, rank % 2, odd_type, root, comm); break;
    case 8:
        MPI_Iscatterv(numbers, counts, places, MPI_INT, &value, rank % 2, MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 9:
        MPI_Bcast(numbers, 1, MPI_INT, root, comm);
        MPI_Gather(numbers, 1, MPI_INT, numbers + RANKS_MAX, 1, MPI_INT, root, comm);
        break;
    case 10:
        MPI_Scatter(numbers, 1, MPI_INT, &value, 1, MPI_INT, root, comm);
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 11:
        MPI_Bcast(numbers, 1, MPI_INT, root, comm);
        MPI_Bcast(numbers, 1, MPI_INT, (root + 1) % size, comm);
        break;
    }
    if (round % 12 == 1 || round % 12 == 9 || round % 12 == 11)
        CHECK_EQUAL(numbers[0], round, "MPI-5.0 §6.4");
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
        operation(comm, rank, size, (int)round);
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
    MPI_Datatype number;
    check_start(&argc, &argv, "barrier");
    MPI_Type_contiguous(1, MPI_INT, &number);
    MPI_Type_commit(&number);
    odd_type = rank_of_world % 2 ? number : MPI_INT;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    rounds(machine);
    MPI_Comm_split(machine, rank_of_world % 2, -rank_of_world, &half);
    rounds(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&machine);
    MPI_Type_free(&number);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return check_finish();
}
