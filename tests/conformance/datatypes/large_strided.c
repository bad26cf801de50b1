/* Long messages of strided types in every combination with contiguous ones: matrix columns, rows, tails. */
#include "check.h"

enum { ROWS = 700, COLUMNS = 300 };
static double matrix[ROWS][COLUMNS], column[ROWS + 1], other[ROWS][COLUMNS];

static double value(int row, int col) { return row * 1000.0 + col; }

/* `columns` neighbouring columns travel as one message and land as columns, or as a dense block. */
static void columns(int columns, int at, int as_columns)
{
    MPI_Datatype type;
    int items = ROWS * columns;
    double *dense = need((size_t)items * sizeof(double));
    MPI_Request request;
    MPI_Type_vector(ROWS, columns, COLUMNS, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    memset(other, 0, sizeof other);
    if (as_columns)
        MPI_Irecv(&other[0][at], 1, type, left_neighbour(), 1, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(dense, items, MPI_DOUBLE, left_neighbour(), 1, MPI_COMM_WORLD, &request);
    MPI_Send(&matrix[0][at], 1, type, right_neighbour(), 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < columns; k++) {
            double got = as_columns ? other[row][at + k] : dense[row * columns + k];
            CHECK(got == value(row, at + k), "MPI-5.0 §5.1.11", "row %d column %d", row, at + k);
        }
    for (int row = 0; row < ROWS && as_columns && at > 0; row++)
        CHECK(other[row][at - 1] == 0 && other[row][at + columns] == 0, "MPI-5.0 §5.1.11");
    MPI_Type_free(&type);
    free(dense);
}

/* Many elements of a small strided type with a persistent and a synchronous send. */
static void small_elements(void)
{
    MPI_Datatype type;
    MPI_Request requests[2];
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    int elements = ROWS * COLUMNS / 3;
    memset(other, 0, sizeof other);
    MPI_Recv_init(other, elements, type, left_neighbour(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(matrix, elements, type, right_neighbour(), 2, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    const double *in = &other[0][0], *out = &matrix[0][0];
    for (int i = 0; i < 3 * elements; i++)
        CHECK(in[i] == (i % 3 == 1 ? 0 : out[i]), "MPI-5.0 §5.1.11", "item %d", i);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&type);
}

/* A strided message shorter than its receive, and one that is truncated in the middle of a block. */
static void unequal_lengths(void)
{
    MPI_Datatype type, shorter;
    MPI_Request send;
    MPI_Status status;
    MPI_Type_vector(ROWS, 2, COLUMNS, MPI_DOUBLE, &type);
    MPI_Type_vector(ROWS / 2, 2, COLUMNS, MPI_DOUBLE, &shorter);
    MPI_Type_commit(&type);
    MPI_Type_commit(&shorter);
    memset(other, 0, sizeof other);
    MPI_Isend(column, ROWS + 1 - ROWS % 2, MPI_DOUBLE, right_neighbour(), 3, MPI_COMM_WORLD, &send);
    MPI_Recv(other, 1, type, left_neighbour(), 3, MPI_COMM_WORLD, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK_EQUAL(status_count(&status, MPI_DOUBLE), ROWS + 1 - ROWS % 2, "MPI-5.0 §3.2.4");
    CHECK_EQUAL(status_count(&status, type), MPI_UNDEFINED, "MPI-5.0 §3.2.5");
    CHECK(other[1][1] == column[3] && other[ROWS - 1][1] == 0, "MPI-5.0 §3.2.4");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memset(other, 0, sizeof other);
    MPI_Isend(matrix, 1, type, right_neighbour(), 3, MPI_COMM_WORLD, &send);
    CHECK_CLASS(MPI_Recv(other, 1, shorter, left_neighbour(), 3, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE,
                "MPI-5.0 §3.2.4");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(other[ROWS / 2][0] == 0 && other[0][2] == 0, "MPI-5.0 §3.2.4");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&type);
    MPI_Type_free(&shorter);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "large_strided");
    for (int row = 0; row < ROWS; row++) {
        column[row] = row + 0.5;
        for (int col = 0; col < COLUMNS; col++)
            matrix[row][col] = value(row, col);
    }
    for (int as_columns = 0; as_columns < 2; as_columns++) {
        columns(1, 0, as_columns);
        columns(1, 17, as_columns);
        columns(5, 100, as_columns);
        columns(200, 50, as_columns);
    }
    small_elements();
    unequal_lengths();
    return check_finish();
}
