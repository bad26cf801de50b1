/* startup: what a rank costs before it does anything: the time in MPI_Init, and the growth of its memory (proportional
 * set size: shared pages divided by their users) by MPI_Init and by one message with every other rank. The samples are
 * the ranks. With --bare it initialises and finalises only: the driver times the whole command. */
#include "ranks.h"

/* The proportional set size in KiB, 0 where the kernel does not tell. */
static double resident_kib(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %lf", &kib) == 1)
            break;
    fclose(f);
    return kib;
}

static void print_ranks(const char *series, const char *unit, double mine)
{
    static struct sampler s;
    if (rank_count > SAMPLES_MAX)
        fail("startup: more than %d ranks", SAMPLES_MAX);
    MPI_Gather(&mine, 1, MPI_DOUBLE, s.samples, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    s.count = rank_count;
    if (my_rank == 0)
        print_time("startup", series, rank_count, unit, &s, 1);
}

static void meet_everyone(void)
{
    for (int step = 1; step < rank_count; step++) {
        int to = (my_rank + step) % rank_count, from = (my_rank + rank_count - step) % rank_count, met;
        MPI_Sendrecv(&my_rank, 1, MPI_INT, to, 1, &met, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (met != from)
            fail("startup: got %d from rank %d", met, from);
    }
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "n", "1", 0);
    if (o.bare) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        return 0;
    }
    double kib_before = resident_kib(), begin = seconds_now();
    MPI_Init(&argc, &argv);
    double initialised = seconds_now(), kib_initialised = resident_kib();
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    print_start("startup");
    print_ranks("init", "ms", 1e3 * (initialised - begin));
    print_ranks("memory", "KiB", kib_initialised - kib_before);
    meet_everyone();
    MPI_Barrier(MPI_COMM_WORLD);
    print_ranks("memory-connected", "KiB", resident_kib() - kib_before);
    MPI_Finalize();
    return 0;
}
