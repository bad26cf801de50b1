/* What the programs here have in common. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

static int rank_in(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

static int class_of(int error) {
    int class;
    MPI_Error_class(error, &class);
    return class;
}

static void die(void) {
    raise(SIGKILL);
}

/* Says what is wrong, and ends the job. */
static void check(int right, const char *format, ...) {
    if (right)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "wrong, rank %d: ", rank_in(MPI_COMM_WORLD));
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 3);
}
