/* What the papers' applications, of ranks with threads, begin with. */
#ifndef WEFT_TESTS_APPLICATION_H
#define WEFT_TESTS_APPLICATION_H

#include "counters.h"
#include <stdlib.h>

enum { MOST_THREADS = 64 };

static int rank, size, threads;

/* MPI, its tools' interface, and the number of threads, which is the first argument. */
static inline void application_start(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    threads = *argc > 1 ? atoi((*argv)[1]) : 0;
    if (threads < 1 || threads > MOST_THREADS)
        MPI_Abort(MPI_COMM_WORLD, 2);
}
#endif
