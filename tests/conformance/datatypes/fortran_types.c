/* Types by precision, range and size, and pairs by their parts: MPI-5.0 §19.1.9, §6.9.4. */
#include "check.h"

static void unnamed(MPI_Datatype type, int bytes, int combiner, int integers, int first, int second)
{
    int size = -1, n[3], got = -1, values[2] = { -1, -1 };
    MPI_Type_size(type, &size);
    CHECK_EQUAL(size, bytes, "MPI-5.0 §19.1.9");
    MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &got);
    CHECK(got == combiner && n[0] == integers && n[1] == 0 && n[2] == 0, "MPI-5.0 §5.1.13");
    MPI_Type_get_contents(type, integers, 0, 0, values, NULL, NULL);
    CHECK(values[0] == first && (integers == 1 || values[1] == second), "MPI-5.0 §5.1.13");
}

static void reals(void)
{
    MPI_Datatype type, again;
    MPI_Type_create_f90_real(6, 30, &type);
    unnamed(type, 4, MPI_COMBINER_F90_REAL, 2, 6, 30);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
    unnamed(type, 8, MPI_COMBINER_F90_REAL, 2, 15, MPI_UNDEFINED);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &again);
    CHECK(type == again, "MPI-5.0 §19.1.9: one handle for each combination");
    MPI_Type_create_f90_complex(MPI_UNDEFINED, 300, &type);
    unnamed(type, 16, MPI_COMBINER_F90_COMPLEX, 2, MPI_UNDEFINED, 300);
}

static void integers(void)
{
    const int ranges[4] = { 2, 4, 9, 18 };
    for (int i = 0; i < 4; i++) {
        MPI_Datatype type;
        MPI_Type_create_f90_integer(ranges[i], &type);
        unnamed(type, 1 << i, MPI_COMBINER_F90_INTEGER, 1, ranges[i], 0);
    }
}

/* They are committed, take part in predefined operations, and are made of nothing. */
static void use(void)
{
    MPI_Datatype real, pair, back;
    double value = rank_of_world + 1.0, sum = 0, two[2], expected = size_of_world * (size_of_world + 1) / 2.0;
    int count;
    MPI_Type_create_f90_real(15, 307, &real);
    MPI_Allreduce(&value, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == expected, "MPI-5.0 §6.9.2");
    MPI_Type_contiguous(2, real, &pair);
    MPI_Type_get_contents(pair, 1, 0, 1, &count, NULL, &back);
    CHECK(back == real, "MPI-5.0 §5.1.13");
    MPI_Type_commit(&pair);
    two[0] = 1.5, two[1] = 2.5;
    double got[2] = { 0, 0 };
    MPI_Sendrecv(two, 2, real, right_neighbour(), 0, got, 1, pair, left_neighbour(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got[0] == 1.5 && got[1] == 2.5, "MPI-5.0 §19.1.9");
    MPI_Type_free(&pair);
}

static void match(int class, int bytes)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int size = -1, n[3], combiner = -1;
    MPI_Type_match_size(class, bytes, &type);
    MPI_Type_size(type, &size);
    CHECK_EQUAL(size, bytes, "MPI-5.0 §19.1.9");
    MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
    CHECK_EQUAL(combiner, MPI_COMBINER_NAMED, "MPI-5.0 §19.1.9: predefined and named");
}

static void pairs(void)
{
    const MPI_Datatype table[][3] = {
        { MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },   { MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
        { MPI_LONG, MPI_INT, MPI_LONG_INT },     { MPI_INT, MPI_INT, MPI_2INT },
        { MPI_SHORT, MPI_INT, MPI_SHORT_INT },   { MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
    };
    MPI_Datatype pair;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        MPI_Type_get_value_index(table[i][0], table[i][1], &pair);
        CHECK(pair == table[i][2], "MPI-5.0 §6.9.4");
    }
    MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &pair);
    CHECK(pair == MPI_DATATYPE_NULL, "MPI-5.0 §6.9.4: no such pair");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "fortran_types");
    reals();
    integers();
    use();
    match(MPI_TYPECLASS_REAL, 4);
    match(MPI_TYPECLASS_REAL, 8);
    match(MPI_TYPECLASS_INTEGER, 1);
    match(MPI_TYPECLASS_INTEGER, 2);
    match(MPI_TYPECLASS_INTEGER, 4);
    match(MPI_TYPECLASS_INTEGER, 8);
    match(MPI_TYPECLASS_COMPLEX, 8);
    match(MPI_TYPECLASS_COMPLEX, 16);
    pairs();
    return check_finish();
}
