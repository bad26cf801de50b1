/* collectives: time of a barrier and of an allreduce of 8 bytes on all ranks, with more ranks than cores too. */
#include "ranks.h"

static void barriers(void *state, long repetitions)
{
    (void)state;
    for (long i = 0; i < repetitions; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduces(void *state, long repetitions)
{
    long long *turn = state, n = rank_count;
    for (long i = 0; i < repetitions; i++, ++*turn) {
        long long mine = *turn * my_rank, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != *turn * n * (n - 1) / 2)
            fail("collectives: an allreduce gave %lld", sum);
    }
}

int main(int argc, char **argv)
{
    static struct sampler s;
    struct options o = read_options(argc, argv, "sizes", "8", 0.5);
    long long turn = 1;
    start(&argc, &argv, "collectives", MPI_THREAD_SINGLE, 0);
    measure(barriers, 0, o.seconds, &s);
    if (my_rank == 0)
        print_time("collectives", "barrier", rank_count, "us", &s, 1e6);
    measure(allreduces, &turn, o.seconds, &s);
    if (my_rank == 0)
        print_time("collectives", "allreduce", rank_count, "us", &s, 1e6);
    MPI_Finalize();
    return 0;
}
