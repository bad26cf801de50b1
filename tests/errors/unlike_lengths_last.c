/* The last operation before MPI_Finalize has lengths that differ, which is erroneous (MPI-5.0 §6.4 to §6.9): a process that waits for a message, or
 * for a post in shared memory, that never comes is told so by one that is in MPI_Finalize already.
 * ranks: 2,4 */
#include "expect.h"

enum { MOST = 50000 };

static int from[MOST], into[MOST];

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "unlike_lengths_last");
    MPI_Comm world = used_duplicate(), pair;
    int rank, number = rank_of_world / 2;
    MPI_Comm_split(world, number, 0, &pair);
    return_errors(pair);
    /* The first two go through shared memory where they are on one host; the others by messages. */
    for (int i = 0; i < 12 && number == 0; i++)
        MPI_Barrier(pair);
    MPI_Comm_rank(pair, &rank);
    check_report();

    int class = number ? RESULT_OF(MPI_Allreduce(from, into, rank ? 10 : MOST, MPI_INT, MPI_SUM, pair))
                       : RESULT_OF(MPI_Bcast(into, rank ? 10 : 100, MPI_INT, 0, pair));
    MPI_Finalize();
    if (class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE)
        return 0;
    fprintf(stderr, "rank %d: the last operation gave class %d\n", rank_of_world, class);
    return 1;
}
