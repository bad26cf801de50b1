/* leave HOW CODE: the last rank leaves in an unusual way, while the others wait for it in a barrier or have finished.
 *   exit    returns CODE after MPI_Finalize      abort  MPI_Abort(CODE)      quit  exits with CODE without MPI_Finalize */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    REQUIRE(count == 3);
    int code = atoi(words[2]), last = rank == size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("leaving %d\n", rank);
    fflush(stdout);
    if (last && strcmp(words[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, code);
    if (last && strcmp(words[1], "quit") == 0)
        _Exit(code);
    if (strcmp(words[1], "exit") != 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return last ? code : 0;
}
