/* apart [undumpable]: messages of all lengths between all pairs, collective operations and windows of all kinds, checked, in a job whose
 * ranks may or may not be able to open each other's memory. Rank 0 prints "ok apart shared=N,N,..": of how many ranks
 * MPI_COMM_TYPE_SHARED is for each, which share a window there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { LONGEST = 1 << 20, RANKS_MAX = 16, SHARED = 1000 };

static int rank, size;

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "apart: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void all_pairs(int *out, int *in, int count)
{
    MPI_Request requests[2 * RANKS_MAX];
    for (int i = 0; i < count; i++)
        out[i] = i * 3 + rank;
    for (int peer = 0; peer < size; peer++) {
        MPI_Irecv(in + (size_t)peer * (size_t)count, count, MPI_INT, peer, count, MPI_COMM_WORLD, &requests[2 * peer]);
        MPI_Isend(out, count, MPI_INT, peer, count, MPI_COMM_WORLD, &requests[2 * peer + 1]);
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < count; i++)
            require(in[(size_t)peer * (size_t)count + (size_t)i] == i * 3 + peer, "wrong numbers in a message");
}

static void collectives(int *out, int *in, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = i + rank;
    for (int round = 0; round < 12; round++) {
        MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        require(in[count - 1] == size * (count - 1) + size * (size - 1) / 2, "a wrong sum");
        in[0] = rank == round % size ? round : -1;
        MPI_Bcast(in, 1, MPI_INT, round % size, MPI_COMM_WORLD);
        require(in[0] == round, "a wrong broadcast");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
    for (int peer = 0; peer < size; peer++)
        require(in[(size_t)peer * (size_t)count] == peer, "a wrong gathering");
}

static void in_window(MPI_Win window, int *part, int *out, int count)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, one = 1, before;
    for (int i = 0; i < count; i++)
        out[i] = i ^ rank;
    MPI_Win_fence(0, window);
    MPI_Put(out, count, MPI_INT, right, 0, count, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < count; i++)
        require(part[i] == (i ^ left), "wrong numbers in a window");
    part[0] = 0;
    MPI_Win_fence(0, window);
    MPI_Win_lock_all(0, window);
    for (int peer = 0; peer < size; peer++) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, peer, 0, MPI_SUM, window);
        MPI_Win_flush(peer, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Get(out, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_unlock(right, window);
    require(out[0] == size, "a wrong count in a window");
    MPI_Win_free(&window);
}

static int shared(void)
{
    MPI_Comm comm;
    MPI_Win window;
    int here, members, *part, *theirs, unit;
    MPI_Aint bytes;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, &here);
    MPI_Comm_size(comm, &members);
    MPI_Win_allocate_shared(SHARED * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &part, &window);
    for (int i = 0; i < SHARED; i++)
        part[i] = here * SHARED + i;
    MPI_Win_fence(0, window);
    MPI_Win_shared_query(window, (here + 1) % members, &bytes, &unit, &theirs);
    for (int i = 0; i < SHARED; i++)
        require(theirs[i] == (here + 1) % members * SHARED + i, "wrong numbers in a shared window");
    MPI_Win_free(&window);
    MPI_Comm_free(&comm);
    return members;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "undumpable") == 0)
        prctl(PR_SET_DUMPABLE, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *out = malloc(LONGEST * sizeof *out), *in = malloc((size_t)size * LONGEST * sizeof *in);
    require(size <= RANKS_MAX && out != NULL && in != NULL, "too many ranks, or no memory");
    for (int count = 1; count <= LONGEST; count *= 16)
        all_pairs(out, in, count);
    for (int count = 1; count <= LONGEST; count *= 64)
        collectives(out, in, count);

    MPI_Win window;
    int *part, members = shared(), all[RANKS_MAX];
    MPI_Win_create(in, LONGEST * (MPI_Aint)sizeof *in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    in_window(window, in, out, LONGEST);
    MPI_Win_allocate(LONGEST * (MPI_Aint)sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
    in_window(window, part, out, LONGEST);

    MPI_Gather(&members, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ok apart shared=");
        for (int peer = 0; peer < size; peer++)
            printf("%d%s", all[peer], peer + 1 < size ? "," : "\n");
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
