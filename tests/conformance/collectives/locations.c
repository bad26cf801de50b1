/* MPI_MAXLOC and MPI_MINLOC on every pair type, with ties, which take the lowest index: MPI-5.0 §6.9.4. */
#include "check.h"

enum { COUNT = 50 };

/* Values tie often; indices are the ranks, in an order that changes with the element. */
static int value_of(int rank, int i) { return (rank * 7 + i) % 3; }
static int index_of(int rank, int i) { return (rank + i) % size_of_world + i; }

static void expect(int i, int last, int largest, int *value, int *index)
{
    *value = value_of(0, i);
    *index = index_of(0, i);
    for (int rank = 1; rank <= last; rank++) {
        int v = value_of(rank, i), k = index_of(rank, i);
        if (v == *value ? k < *index : largest ? v > *value : v < *value) {
            *value = v;
            *index = k;
        }
    }
}

#define PAIR_TEST(name, mpi_type, value_type, index_type) \
    static void name(int largest) \
    { \
        struct { value_type value; index_type index; } in[COUNT], out[COUNT]; \
        MPI_Op op = largest ? MPI_MAXLOC : MPI_MINLOC; \
        int value = 0, index = 0; \
        for (int i = 0; i < COUNT; i++) { \
            in[i].value = (value_type)value_of(rank_of_world, i); \
            in[i].index = (index_type)index_of(rank_of_world, i); \
        } \
        for (int form = 0; form < 4; form++) { \
            int last = form < 2 ? size_of_world - 1 : form == 2 ? rank_of_world : rank_of_world - 1; \
            memcpy(out, in, sizeof out); \
            if (form == 0) \
                MPI_Allreduce(in, out, COUNT, mpi_type, op, MPI_COMM_WORLD); \
            else if (form == 1) \
                MPI_Allreduce(MPI_IN_PLACE, out, COUNT, mpi_type, op, MPI_COMM_WORLD); \
            else if (form == 2) \
                MPI_Scan(in, out, COUNT, mpi_type, op, MPI_COMM_WORLD); \
            else \
                MPI_Exscan(in, out, COUNT, mpi_type, op, MPI_COMM_WORLD); \
            for (int i = 0; i < COUNT && last >= 0; i++) { \
                expect(i, last, largest, &value, &index); \
                CHECK((int)out[i].value == value && (int)out[i].index == index, "MPI-5.0 §6.9.4", \
                      "%s element %d: (%d, %d), expected (%d, %d)", #mpi_type, i, (int)out[i].value, \
                      (int)out[i].index, value, index); \
            } \
        } \
    }

PAIR_TEST(float_int, MPI_FLOAT_INT, float, int)
PAIR_TEST(double_int, MPI_DOUBLE_INT, double, int)
PAIR_TEST(long_int, MPI_LONG_INT, long, int)
PAIR_TEST(two_int, MPI_2INT, int, int)
PAIR_TEST(short_int, MPI_SHORT_INT, short, int)
PAIR_TEST(long_double_int, MPI_LONG_DOUBLE_INT, long double, int)
PAIR_TEST(two_integer, MPI_2INTEGER, int, int)
PAIR_TEST(two_real, MPI_2REAL, float, float)
PAIR_TEST(two_double_precision, MPI_2DOUBLE_PRECISION, double, double)

/* Fortran's pairs are optional: a library without them says that they have no size. */
static int exists(MPI_Datatype type)
{
    int size = -1;
    MPI_Type_size(type, &size);
    return size != MPI_UNDEFINED;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "locations");
    for (int largest = 0; largest < 2; largest++) {
        float_int(largest);
        double_int(largest);
        long_int(largest);
        two_int(largest);
        short_int(largest);
        long_double_int(largest);
        if (exists(MPI_2INTEGER))
            two_integer(largest);
        if (exists(MPI_2REAL))
            two_real(largest);
        if (exists(MPI_2DOUBLE_PRECISION))
            two_double_precision(largest);
    }
    return check_finish();
}
