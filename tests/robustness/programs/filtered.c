/* filtered KIND WHOM [long]: a filter of system calls (filter.h) comes in the middle of a job, as programs shut themselves in.
 * The ranks have met by then; WHOM of them, `all` or the `last`, can from there on make nothing that they share with others.
 * Collectives that would have made shared memory go by messages; a window is made where its memory can be mapped. With
 * `long`, messages are sent that need new memory of a sender. Rank 0 prints "ok filtered". */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter.h"

enum { LANES = 16, OPERATIONS = 20, LONG = 4 << 20 };

static int rank, size;

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "filtered: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Around the ring and back, by as many ways as communicators have. */
static void meet(MPI_Comm *comms)
{
    for (int c = 0; c < LANES; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        for (int i = 0, word; i < size; i++)
            MPI_Sendrecv(&i, 1, MPI_INT, (rank + i) % size, 0, &word, 1, MPI_INT, (rank + size - i) % size, 0, comms[c],
                         MPI_STATUS_IGNORE);
    }
}

static void operate(MPI_Comm comm)
{
    for (int i = 0; i < OPERATIONS; i++) {
        int word = rank + i, sum = -1, all[64];
        MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
        require(sum == size * (size - 1) / 2 + size * i, "wrong sum");
        MPI_Allgather(&word, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int j = 0; j < size; j++)
            require(all[j] == j + i, "wrong word of a rank");
    }
}

/* Messages longer than what a connection holds, around the ring. */
static void send_long(MPI_Comm comm)
{
    char *out = calloc(1, LONG), *in = calloc(1, LONG);
    require(out && in, "no memory");
    MPI_Sendrecv(out, LONG, MPI_BYTE, (rank + 1) % size, 1, in, LONG, MPI_BYTE, (rank + size - 1) % size, 1, comm,
                 MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

/* A window's memory (MPI-5.0 §12.2.2) costs nothing before it is touched, but has to be mapped: where it cannot be, there is an
 * error on every rank, and on those that are at fault its class is that for memory. */
static void allocate(MPI_Comm comm, const char *kind, int is_filtered)
{
    MPI_Win win;
    int *base, class, word = rank, code;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Win_allocate(1 << 20, sizeof *base, MPI_INFO_NULL, comm, &base, &win);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Error_class(code, &class);
    if (strcmp(kind, "shared") == 0) {
        require(class == (is_filtered ? MPI_ERR_NO_MEM : MPI_ERR_OTHER), "another class of error for a window");
        return;
    }
    require(class == MPI_SUCCESS, "no memory for a window");
    MPI_Win_fence(0, win);
    MPI_Put(&word, 1, MPI_INT, (rank + 1) % size, 7, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    require(base[7] == (rank + size - 1) % size, "wrong word put");
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[LANES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    require(argc >= 3, "two arguments");
    meet(comms);
    int is_filtered = strcmp(argv[2], "all") == 0 || rank == size - 1;
    require(!is_filtered || deny(argv[1]) == 0, "cannot install the filter");
    for (int c = 0; c < LANES; c++)
        operate(comms[c]);
    if (argc > 3)
        send_long(comms[0]);
    allocate(comms[0], argv[1], is_filtered);
    operate(comms[0]);
    for (int c = 0; c < LANES; c++)
        MPI_Comm_free(&comms[c]);
    if (rank == 0)
        printf("ok filtered\n");
    MPI_Finalize();
    return 0;
}
