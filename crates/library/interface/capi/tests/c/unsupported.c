/* A function that is not implemented ends the program under the initial error handler. */
#include <mpi.h>

int main(void) { return MPI_Win_fence(0, MPI_WIN_NULL); }
