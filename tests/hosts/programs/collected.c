/* collected BATCHES TIMES: barrier, reduce, allreduce and allgather of 8 bytes, checked, in so many batches of so many each. Rank 0 says a line "OPERATION
 * MICROSECONDS" for each batch: what one took on average. */
#include "check.h"

enum { OPERATIONS = 4 };
static const char *const NAMES[OPERATIONS] = {"barrier", "reduce", "allreduce", "allgather"};
static long *gathered;

static void once(int operation, long round)
{
    long mine = rank + round, sum = 0, expected = (long)size * round + (long)size * (size - 1) / 2;
    switch (operation) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    case 1:
        MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        REQUIRE(rank != 0 || sum == expected);
        return;
    case 2:
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        REQUIRE(sum == expected);
        return;
    default:
        MPI_Allgather(&mine, 1, MPI_LONG, gathered, 1, MPI_LONG, MPI_COMM_WORLD);
        REQUIRE(gathered[size - 1] == size - 1 + round);
    }
}

int main(int count, char **words)
{
    begin(&count, &words);
    REQUIRE(count == 3);
    int batches = atoi(words[1]), times = atoi(words[2]);
    gathered = memory((size_t)size * sizeof *gathered);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        /* The first batch makes links, and does not count. */
        for (int batch = -1; batch < batches; batch++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = MPI_Wtime();
            for (int i = 0; i < times; i++)
                once(operation, i);
            if (rank == 0 && batch >= 0)
                printf("%s %.2f\n", NAMES[operation], (MPI_Wtime() - begin) * 1e6 / times);
        }
    }
    free(gathered);
    end("collected");
    return 0;
}
