/* Context identifiers are reused: 10,000 cycles of dup and free, interleaved with lasting communicators. */
#include "check.h"

enum { CYCLES = 10000 };

int main(int argc, char **argv)
{
    MPI_Comm comm, lasting[10];
    check_start(&argc, &argv, "cycles");
    for (int i = 0; i < CYCLES; i++) {
        MPI_Comm_dup(i % 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comm);
        if (i % 100 == 0) {
            int value = i, got = -1;
            MPI_Sendrecv(&value, 1, MPI_INT, right_neighbour(), 1, &got, 1, MPI_INT, left_neighbour(), 1,
                         comm, MPI_STATUS_IGNORE);
            CHECK_EQUAL(got, i, "MPI-5.0 §7.4.3");
        }
        if (i % (CYCLES / 10) == 0)
            MPI_Comm_dup(comm, &lasting[i / (CYCLES / 10)]);
        MPI_Comm_free(&comm);
        CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.3");
    }
    for (int i = 0; i < 10; i++) {
        int sum = -1, one = 1, size = -1;
        MPI_Comm_size(lasting[i], &size);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, lasting[i]);
        CHECK_EQUAL(sum, size, "MPI-5.0 §7.4.2");
        MPI_Comm_free(&lasting[i]);
    }
    return check_finish();
}
