/* Parts of elements: MPI_Get_count, MPI_Get_elements and MPI_Status_set_elements: MPI-5.0 §5.1.12, §13.3.
 *
 * MPICH 5.0.2 gets there, but takes minutes for the elements beyond int. */
#include "check.h"

static MPI_Datatype record; /* int, two doubles, short */

static void make_record(void)
{
    int lengths[3] = { 1, 2, 1 };
    MPI_Aint places[3] = { 0, 8, 24 };
    MPI_Datatype types[3] = { MPI_INT, MPI_DOUBLE, MPI_SHORT };
    MPI_Type_create_struct(3, lengths, places, types, &record);
    MPI_Type_commit(&record);
}

/* Sends the first `bytes` bytes of records and looks at what came. */
static void part(int bytes, int count, int elements)
{
    static char sent[256], got[256];
    MPI_Status status;
    int found = -1;
    MPI_Count large = -1, large_x = -1;
    MPI_Sendrecv(sent, bytes, MPI_PACKED, right_neighbour(), 0, got, 4, record, left_neighbour(), 0, MPI_COMM_WORLD,
                 &status);
    CHECK_EQUAL(status_count(&status, record), count, "MPI-5.0 §3.2.5");
    MPI_Get_elements(&status, record, &found);
    CHECK_EQUAL(found, elements, "MPI-5.0 §5.1.12");
    MPI_Get_elements_c(&status, record, &large);
    MPI_Get_elements_x(&status, record, &large_x);
    CHECK(large == elements && large_x == elements, "MPI-5.0 §5.1.12");
    MPI_Get_count_c(&status, record, &large);
    CHECK_EQUAL(large, count, "MPI-5.0 §3.2.5");
}

static void parts(void)
{
    /* Packed: int at 0, doubles at 4 and 12, short at 20; 22 bytes in all. */
    part(0, 0, 0);
    part(4, MPI_UNDEFINED, 1);
    part(12, MPI_UNDEFINED, 2);
    part(20, MPI_UNDEFINED, 3);
    part(22, 1, 4);
    part(26, MPI_UNDEFINED, 5);
    part(64, MPI_UNDEFINED, 11);
    part(88, 4, 16);
}

static void set(MPI_Datatype type, int elements, int count)
{
    MPI_Status status;
    int found = -1;
    MPI_Count large = -1;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, type, elements);
    MPI_Get_elements(&status, type, &found);
    CHECK_EQUAL(found, elements, "MPI-5.0 §13.3");
    CHECK_EQUAL(status_count(&status, type), count, "MPI-5.0 §13.3");
    MPI_Status_set_elements_c(&status, type, elements);
    MPI_Get_elements_c(&status, type, &large);
    CHECK_EQUAL(large, elements, "MPI-5.0 §13.3");
    MPI_Status_set_elements_x(&status, type, elements);
    MPI_Get_elements_x(&status, type, &large);
    CHECK_EQUAL(large, elements, "MPI-5.0 §16.1");
}

static void beyond_int(void)
{
    MPI_Status status;
    const MPI_Count many = (MPI_Count)3 << 31;
    int found = -1;
    MPI_Count large = -1;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_c(&status, record, many);
    MPI_Get_elements(&status, record, &found);
    CHECK_EQUAL(found, MPI_UNDEFINED, "MPI-5.0 §5.1.12: does not fit");
    MPI_Get_elements_c(&status, record, &large);
    CHECK_EQUAL(large, many, "MPI-5.0 §5.1.12");
    MPI_Get_count_c(&status, record, &large);
    CHECK_EQUAL(large, many / 4, "MPI-5.0 §3.2.5");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "elements");
    make_record();
    parts();
    set(record, 0, 0);
    set(record, 1, MPI_UNDEFINED);
    set(record, 4, 1);
    set(record, 7, MPI_UNDEFINED);
    set(MPI_INT, 5, 5);
    beyond_int();
    MPI_Type_free(&record);
    return check_finish();
}
