/* Collectives where the memory that ranks of one host share cannot be had at one rank, for want of descriptors or of address
 * space: they go on by messages, on all ranks of its host, and a communicator made when there is enough again has that memory.
 * MPI-5.0 §6.1: what an operation does is the same however it is done. */
#include "check_tools.h"
#include "hosts.h"
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { OPERATIONS = 20, SLACK_BYTES = 64 << 10, LANES = 16, BLOCKS = 64, BLOCK_BYTES = 32 << 10 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle arenas, refused;
/* Whether this rank's host has others, and the last rank. */
static int shares, is_beside_last;

static void operate(MPI_Comm comm)
{
    int size = size_of_world, all[64];
    for (int i = 0; i < OPERATIONS; i++) {
        int word = rank_of_world + i, sum = -1;
        MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQUAL(sum, size * (size - 1) / 2 + size * i, "MPI-5.0 §6.9.6");
        MPI_Allgather(&word, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int rank = 0; rank < size; rank++)
            CHECK_EQUAL(all[rank], rank + i, "MPI-5.0 §6.7");
        word = rank_of_world == i % size ? 1000 + i : -1;
        MPI_Bcast(&word, 1, MPI_INT, i % size, comm);
        CHECK_EQUAL(word, 1000 + i, "MPI-5.0 §6.4");
    }
}

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1, "proc_pid_statm(5)");
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The heap has room, which it keeps: what is short is address space for what is mapped, and no word of malloc(3)'s. */
static void fill_heap(void)
{
    void *blocks[BLOCKS];
    mallopt(M_TRIM_THRESHOLD, 2 * BLOCKS * BLOCK_BYTES);
    for (int i = 0; i < BLOCKS; i++)
        *(volatile char *)(blocks[i] = malloc(BLOCK_BYTES)) = 1;
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

/* A communicator whose last rank is short of `resource` when the memory would be made. */
static void short_of(int resource)
{
    MPI_Comm comm;
    struct rlimit before, limit;
    number had = value_of(session, arenas), had_refused = value_of(session, refused);
    int is_short = rank_of_world == size_of_world - 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    getrlimit(resource, &before);
    limit = before;
    /* Descriptors below the limit stay open, and none is free. */
    limit.rlim_cur = resource == RLIMIT_NOFILE ? 0 : address_space() + SLACK_BYTES;
    if (is_short)
        CHECK_EQUAL(setrlimit(resource, &limit), 0, "setrlimit(2)");
    operate(comm);
    if (resource == RLIMIT_NOFILE) {
        /* Long enough for the waiting ones to look whether the others live. */
        if (rank_of_world == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 800000000 }, NULL);
        MPI_Barrier(comm);
    }
    if (is_short)
        setrlimit(resource, &before);
    number has = had + (number)(shares && !is_beside_last);
    CHECK_EQUAL(value_of(session, arenas), has, "no memory is shared with the one that is short");
    CHECK_EQUAL(value_of(session, refused), had_refused + (number)(shares && is_beside_last), "and all beside it know");
    operate(comm);
    CHECK_EQUAL(value_of(session, arenas), has, "it stays so");
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, comms[LANES];
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    check_start(&argc, &argv, "without_arena");
    int *first = first_sharing();
    shares = ranks_beside(first) > 1;
    is_beside_last = first[rank_of_world] == first[size_of_world - 1];
    free(first);
    MPI_T_pvar_session_create(&session);
    arenas = variable(session, "weft_arenas");
    refused = variable(session, "weft_arenas_refused");
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    /* Every two processes have met on all that they meet by, for which a descriptor is needed. */
    for (int c = 0; c < LANES; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        for (int i = 0, word; i < size_of_world; i++)
            MPI_Sendrecv(&i, 1, MPI_INT, (rank_of_world + i) % size_of_world, 0, &word, 1, MPI_INT,
                         (rank_of_world + size_of_world - i) % size_of_world, 0, comms[c], MPI_STATUS_IGNORE);
    }
    short_of(RLIMIT_NOFILE);
    fill_heap();
    short_of(RLIMIT_AS);
    number had = value_of(session, arenas);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    operate(comm);
    CHECK_EQUAL(value_of(session, arenas), had + (number)shares, "there is enough again");
    MPI_Comm_free(&comm);
    for (int c = 0; c < LANES; c++)
        MPI_Comm_free(&comms[c]);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_finish();
}
