/* MPI_Dims_create: MPI-5.0 §8.5.2.
 * ranks: 1 */
#include "check.h"

#define FILLED(nodes, given, expected) filled(__LINE__, nodes, (int[])given, (int[])expected, sizeof((int[])given) / sizeof(int))
#define LIST(...) { __VA_ARGS__ }

static void filled(int line, int nodes, const int *given, const int *expected, int count)
{
    int dims[8];
    memcpy(dims, given, count * sizeof(int));
    MPI_Dims_create(nodes, count, dims);
    for (int d = 0; d < count; d++)
        CHECK(dims[d] == expected[d], "MPI-5.0 §8.5.2", "line %d, dims[%d] is %d", line, d, dims[d]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "dims");
    FILLED(6, LIST(0, 0), LIST(3, 2));
    FILLED(7, LIST(0, 0), LIST(7, 1));
    FILLED(6, LIST(0, 3, 0), LIST(2, 3, 1));
    FILLED(16, LIST(0, 0, 0), LIST(4, 2, 2));
    FILLED(72, LIST(0, 0, 0), LIST(6, 4, 3));
    FILLED(1024, LIST(0, 0), LIST(32, 32));
    FILLED(65536, LIST(0, 0, 0), LIST(64, 32, 32));
    FILLED(12, LIST(2, 6), LIST(2, 6));
    FILLED(12, LIST(1, 0), LIST(1, 12));
    FILLED(1, LIST(0), LIST(1));
    FILLED(2147483647, LIST(0, 0), LIST(2147483647, 1));
    MPI_Dims_create(5, 0, NULL);
    for (int nodes = 1; nodes <= 3000; nodes++)
        for (int count = 1; count <= 5; count++) {
            int dims[5] = { 0 }, product = 1;
            MPI_Dims_create(nodes, count, dims);
            for (int d = 0; d < count; d++) {
                product *= dims[d];
                CHECK(d == 0 || dims[d] <= dims[d - 1], "MPI-5.0 §8.5.2: in non-increasing order");
            }
            CHECK_EQUAL(product, nodes, "MPI-5.0 §8.5.2");
        }
    return check_finish();
}
