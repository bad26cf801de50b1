/* Bounds that follow from data and bounds that were set: MPI-5.0 §5.1.6 to §5.1.8.
 *
 * MPICH 5.0.2 lets data outweigh set bounds in MPI_Type_create_struct, against §5.1.7. */
#include "check.h"
#include <stddef.h>

static void bounds(MPI_Datatype type, long lower, long extent, long true_lower, long true_extent)
{
    MPI_Aint lb = -1, ex = -1;
    MPI_Count large_lb = -1, large_ex = -1;
    MPI_Type_get_extent(type, &lb, &ex);
    CHECK_EQUAL(lb, lower, "MPI-5.0 §5.1.7");
    CHECK_EQUAL(ex, extent, "MPI-5.0 §5.1.7");
    MPI_Type_get_extent_x(type, &large_lb, &large_ex);
    CHECK(large_lb == lower && large_ex == extent, "MPI-5.0 §16.1");
    MPI_Type_get_true_extent(type, &lb, &ex);
    CHECK_EQUAL(lb, true_lower, "MPI-5.0 §5.1.8");
    CHECK_EQUAL(ex, true_extent, "MPI-5.0 §5.1.8");
    MPI_Type_get_true_extent_x(type, &large_lb, &large_ex);
    CHECK(large_lb == true_lower && large_ex == true_extent, "MPI-5.0 §16.1");
}

struct record {
    char tag;
    double value;
    short counts[3];
};

/* A struct as C lays it out, whose extent is C's without MPI_Type_create_resized. */
static void c_struct(void)
{
    int lengths[3] = { 1, 1, 3 };
    MPI_Aint places[3] = { offsetof(struct record, tag), offsetof(struct record, value),
                           offsetof(struct record, counts) };
    MPI_Datatype types[3] = { MPI_CHAR, MPI_DOUBLE, MPI_SHORT }, type;
    struct record sent[4], got[4];
    MPI_Type_create_struct(3, lengths, places, types, &type);
    bounds(type, 0, sizeof(struct record), 0, offsetof(struct record, counts) + 3 * sizeof(short));
    MPI_Type_commit(&type);
    for (int i = 0; i < 4; i++)
        sent[i] = (struct record){ (char)('a' + i), i / 4.0, { (short)i, (short)(2 * i), (short)(3 * i) } };
    memset(got, 0, sizeof got);
    MPI_Sendrecv(sent, 4, type, right_neighbour(), 0, got, 4, type, left_neighbour(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK(got[i].tag == 'a' + i && got[i].value == i / 4.0 && got[i].counts[2] == 3 * i, "MPI-5.0 §5.1.2");
    MPI_Type_free(&type);
}

/* Set bounds outweigh data in all that is built on the type (§5.1.7). */
static void set_bounds(void)
{
    MPI_Datatype small, type, again;
    MPI_Type_create_resized(MPI_INT, -4, 16, &small);
    bounds(small, -4, 16, 0, 4);
    MPI_Type_contiguous(3, small, &type);
    bounds(type, -4, 48, 0, 36);
    MPI_Type_free(&type);
    int lengths[2] = { 1, 1 };
    MPI_Aint places[2] = { 0, 100 };
    MPI_Datatype types[2] = { small, MPI_DOUBLE };
    MPI_Type_create_struct(2, lengths, places, types, &type);
    bounds(type, -4, 16, 0, 108);
    MPI_Type_create_resized(type, 0, 128, &again);
    bounds(again, 0, 128, 0, 108);
    MPI_Type_free(&again);
    MPI_Type_free(&type);
    MPI_Type_free(&small);
}

/* Elements that lie closer together than they are long, and backwards. */
static void overlapping(void)
{
    double sent[16], got[16];
    MPI_Datatype pair, closer, backwards;
    for (int i = 0; i < 16; i++)
        sent[i] = i, got[i] = -1;
    MPI_Type_vector(2, 1, 4, MPI_DOUBLE, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(double), &closer);
    MPI_Type_commit(&closer);
    MPI_Sendrecv(sent, 4, closer, right_neighbour(), 0, got, 8, MPI_DOUBLE, left_neighbour(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        CHECK(got[i] == i / 2 + 4 * (i % 2), "MPI-5.0 §5.1.7");
    MPI_Type_create_resized(MPI_DOUBLE, 0, -(MPI_Aint)sizeof(double), &backwards);
    MPI_Type_commit(&backwards);
    MPI_Sendrecv(sent, 8, MPI_DOUBLE, right_neighbour(), 0, got + 7, 8, backwards, left_neighbour(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        CHECK(got[i] == 7 - i, "MPI-5.0 §5.1.7: a negative extent");
    MPI_Type_free(&pair);
    MPI_Type_free(&closer);
    MPI_Type_free(&backwards);
}

/* Displacements from MPI_BOTTOM are addresses (§5.1.12). */
static void absolute(void)
{
    static int first[3] = { 1, 2, 3 }, got[5];
    static double second[2] = { 4, 5 };
    int lengths[2] = { 3, 2 };
    MPI_Aint places[2];
    MPI_Datatype types[2] = { MPI_INT, MPI_DOUBLE }, type;
    unsigned char packed[64];
    int position = 0;
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    MPI_Isend(MPI_BOTTOM, 1, type, right_neighbour(), 0, MPI_COMM_WORLD, &request);
    MPI_Recv(packed, sizeof packed, MPI_PACKED, left_neighbour(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Unpack(packed, sizeof packed, &position, got, 3, MPI_INT, MPI_COMM_WORLD);
    double values[2] = { 0, 0 };
    MPI_Unpack(packed, sizeof packed, &position, values, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(got[0] == 1 && got[2] == 3 && values[0] == 4 && values[1] == 5, "MPI-5.0 §5.1.12");
    MPI_Type_free(&type);
}

static void empty(void)
{
    MPI_Datatype nothing, marked;
    int size = -1;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Type_size(nothing, &size);
    CHECK_EQUAL(size, 0, "MPI-5.0 §5.1.5");
    MPI_Type_create_resized(nothing, 8, 24, &marked);
    MPI_Aint lower = -1, extent = -1;
    MPI_Type_get_extent(marked, &lower, &extent);
    CHECK(lower == 8 && extent == 24, "MPI-5.0 §5.1.7");
    MPI_Status status;
    MPI_Sendrecv(NULL, 5, nothing, right_neighbour(), 0, NULL, 3, nothing, left_neighbour(), 0, MPI_COMM_WORLD,
                 &status);
    CHECK_EQUAL(status_count(&status, nothing), 0, "MPI-5.0 §3.2.5");
    MPI_Type_free(&nothing);
    MPI_Type_free(&marked);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "extents");
    c_struct();
    set_bounds();
    overlapping();
    absolute();
    empty();
    return check_finish();
}
