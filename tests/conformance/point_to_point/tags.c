/* Tags from 0 to the largest are all different: MPI-5.0 §3.2.3 and §9.1.2. */
#include "check.h"

int main(int argc, char **argv)
{
    int *upper = NULL, flag = 0, tags[40], values[40], got[40], count = 0;
    MPI_Request sends[40];
    check_start(&argc, &argv, "tags");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag, "MPI-5.0 §9.1.2");
    /* Both sides of every power of two: a tag that loses its high bits would meet another one. */
    for (int bit = 1; bit <= 30 && (1 << bit) <= *upper; bit += 2) {
        tags[count++] = (1 << bit) - 1;
        tags[count++] = 1 << bit;
    }
    tags[count++] = 0;
    tags[count++] = *upper;
    tags[count++] = *upper - 1;
    for (int i = 0; i < count; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, right_neighbour(), tags[i], MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = count - 1; i >= 0; i--) {
        MPI_Status status;
        MPI_Recv(&got[i], 1, MPI_INT, left_neighbour(), tags[i], MPI_COMM_WORLD, &status);
        CHECK_EQUAL(got[i], i, "MPI-5.0 §3.2.3");
        CHECK_EQUAL(status.MPI_TAG, tags[i], "MPI-5.0 §3.2.5");
    }
    MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
    return check_finish();
}
