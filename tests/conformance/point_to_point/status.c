/* Status accessors, counts, elements, and which fields a call may change. */
#include "check.h"

static void accessors(void)
{
    MPI_Status status;
    int value = -1, flag = -1;
    memset(&status, 0, sizeof status);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 71);
    MPI_Status_set_error(&status, MPI_ERR_TAG);
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 71, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status.MPI_ERROR, MPI_ERR_TAG, "MPI-5.0 §3.2.5");
    MPI_Status_get_source(&status, &value);
    CHECK_EQUAL(value, 3, "MPI-5.0 §3.2.5");
    MPI_Status_get_tag(&status, &value);
    CHECK_EQUAL(value, 71, "MPI-5.0 §3.2.5");
    MPI_Status_get_error(&status, &value);
    CHECK_EQUAL(value, MPI_ERR_TAG, "MPI-5.0 §3.2.5");
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag == 1, "MPI-5.0 §13.3");
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag == 0, "MPI-5.0 §13.3");
    MPI_Status_set_elements(&status, MPI_INT, 12);
    CHECK_EQUAL(status_count(&status, MPI_INT), 12, "MPI-5.0 §13.3");
    MPI_Status_set_elements_c(&status, MPI_BYTE, (MPI_Count)5000000000);
    MPI_Count count = -1;
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, 5000000000, "MPI-5.0 §13.3");
    CHECK_EQUAL(status_count(&status, MPI_BYTE), MPI_UNDEFINED, "MPI-5.0 §3.2.5: not an int");
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 71, "MPI-5.0 §13.3: the rest stays");
}

/* 12 bytes arrive; what they are worth in several types. */
static void counts(void)
{
    char out[12] = { 0 }, in[64];
    MPI_Status status;
    MPI_Datatype five, strided;
    MPI_Sendrecv(out, 12, MPI_BYTE, right_neighbour(), 1, in, 64, MPI_BYTE, left_neighbour(), 1,
                 MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, MPI_BYTE), 12, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status_count(&status, MPI_INT), 3, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status_count(&status, MPI_SHORT), 6, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status_count(&status, MPI_DOUBLE), MPI_UNDEFINED, "MPI-5.0 §3.2.5: no multiple");
    MPI_Type_contiguous(5, MPI_CHAR, &five);
    MPI_Type_commit(&five);
    MPI_Type_vector(2, 1, 3, MPI_SHORT, &strided);
    MPI_Type_commit(&strided);
    CHECK_EQUAL(status_count(&status, five), MPI_UNDEFINED, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status_count(&status, strided), 3, "MPI-5.0 §3.2.5: by size, not by extent");
    int elements = -1;
    MPI_Get_elements(&status, five, &elements);
    CHECK_EQUAL(elements, 12, "MPI-5.0 §5.1.11");
    MPI_Get_elements(&status, strided, &elements);
    CHECK_EQUAL(elements, 6, "MPI-5.0 §5.1.11");
    MPI_Type_free(&five);
    MPI_Type_free(&strided);
}

static void zero_sized(void)
{
    MPI_Datatype nothing;
    MPI_Status status;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Sendrecv(NULL, 0, MPI_INT, right_neighbour(), 1, NULL, 0, MPI_INT, left_neighbour(), 1,
                 MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, MPI_DOUBLE), 0, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status_count(&status, nothing), 0, "MPI-5.0 §3.2.5: a type of size zero");
    MPI_Type_free(&nothing);
}

/* Calls with one status leave MPI_ERROR alone; those with several do so when all went well. */
static void error_field(void)
{
    int out = 1, in = 0;
    MPI_Request request;
    MPI_Status status;
    status.MPI_ERROR = 4321;
    MPI_Sendrecv(&out, 1, MPI_INT, right_neighbour(), 1, &in, 1, MPI_INT, left_neighbour(), 1,
                 MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status.MPI_ERROR, 4321, "MPI-5.0 §3.2.5");
    MPI_Irecv(&in, 1, MPI_INT, left_neighbour(), 2, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, right_neighbour(), 2, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK_EQUAL(status.MPI_ERROR, 4321, "MPI-5.0 §3.2.5");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "status");
    accessors();
    counts();
    zero_sized();
    error_field();
    return check_finish();
}
