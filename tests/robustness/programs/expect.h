/* What a call must return. */
#ifndef WEFT_TESTS_EXPECT_H
#define WEFT_TESTS_EXPECT_H

#include <mpi.h>
#include <stdio.h>

/* Ends the job where a call's code is not of the class that it should be. */
static inline void expect(const char *what, int code, int wanted)
{
    int class, rank;
    MPI_Error_class(code, &class);
    if (class == wanted)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: %s has class %d, expected %d\n", rank, what, class, wanted);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#endif
