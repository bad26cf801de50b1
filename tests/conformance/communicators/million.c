/* ranks: 1,2
 * 2^20 communicators made and freed one after the other: their numbers are used again, and memory does not grow. */
#include "check.h"
#include <sys/resource.h>

enum { CYCLES = 1 << 20, WARM = 1 << 12, GROWTH_KIB = 8 << 10 };

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, kept;
    long before = 0;
    check_start(&argc, &argv, "million");
    for (int i = 0; i < CYCLES; i++) {
        if (i == WARM)
            before = peak_kib();
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_free(&comm);
    }
    CHECK(peak_kib() - before < GROWTH_KIB, "MPI-5.0 §7.4.3", "grown by %ld KiB", peak_kib() - before);
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Barrier(kept);
    MPI_Comm_free(&kept);
    return check_finish();
}
