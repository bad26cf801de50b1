/* Partitioned requests among others in the calls that complete requests; derived datatypes; MPI_PROC_NULL; the two forms
 * of the count. MPI-5.0 §4.2, §3.7.5. */
#include "check.h"

enum { PARTITIONS = 5, ROWS = 10, COLUMNS = 40 };

/* Waitany, Testsome, Request_get_status over a send, a receive, an ordinary pair and a null request. */
static void among_others(void)
{
    MPI_Request requests[5];
    MPI_Status status;
    int out[PARTITIONS], in[PARTITIONS], plain_out = 1, plain_in = 0, flag = 1, index, seen[5] = { 0 };
    for (int i = 0; i < PARTITIONS; i++)
        out[i] = 10 * rank_of_world + i;
    MPI_Psend_init(out, PARTITIONS, 1, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 1, PARTITIONS, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    for (int round = 0; round < 3; round++) {
        requests[3] = requests[4] = MPI_REQUEST_NULL;
        MPI_Waitany(5, requests, &index, &status);
        CHECK_EQUAL(index, MPI_UNDEFINED, "MPI-5.0 §3.7.5: all inactive");
        MPI_Startall(2, requests);
        MPI_Test(&requests[0], &flag, &status);
        CHECK_EQUAL(flag, 0, "MPI-5.0 §4.2.2: not all are ready");
        MPI_Request_get_status(requests[1], &flag, &status);
        CHECK_EQUAL(flag, 0, "MPI-5.0 §4.2.2: not all are there");
        MPI_Irecv(&plain_in, 1, MPI_INT, left_neighbour(), 2, MPI_COMM_WORLD, &requests[3]);
        MPI_Isend(&plain_out, 1, MPI_INT, right_neighbour(), 2, MPI_COMM_WORLD, &requests[4]);
        for (int i = 0; i < 2; i++) {
            MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index == 3 || index == 4, "MPI-5.0 §3.7.5: only the ordinary ones can complete");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pready_range(0, PARTITIONS - 1, requests[0]);
        memset(seen, 0, sizeof seen);
        for (int left = 2; left > 0;) {
            int count = 0, indices[5];
            if (round == 0) {
                MPI_Testsome(5, requests, &count, indices, MPI_STATUSES_IGNORE);
            } else if (round == 1) {
                MPI_Waitsome(5, requests, &count, indices, MPI_STATUSES_IGNORE);
            } else {
                do
                    MPI_Request_get_status(requests[1], &flag, &status);
                while (!flag);
                CHECK_EQUAL(status_count(&status, MPI_INT), PARTITIONS, "MPI-5.0 §3.7.6");
                MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
                left = 0;
            }
            for (int i = 0; i < count; i++) {
                CHECK(!seen[indices[i]]++, "MPI-5.0 §3.7.5: once each");
                left--;
            }
        }
        for (int i = 0; i < PARTITIONS; i++)
            CHECK_EQUAL(in[i], 10 * left_neighbour() + i, "MPI-5.0 §4.2.2");
        memset(in, 0, sizeof in);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Columns of a matrix out, whole rows in: partitions of the two sides end within each other's. */
static void derived(void)
{
    MPI_Datatype column, resized;
    MPI_Request requests[2];
    static double matrix[ROWS][COLUMNS], got[COLUMNS][ROWS];
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &resized);
    MPI_Type_commit(&resized);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            matrix[r][c] = rank_of_world * 1e6 + r * 1000 + c;
    MPI_Psend_init(matrix, COLUMNS / 2, 2, resized, right_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(got, 16, COLUMNS * ROWS / 16, MPI_DOUBLE, left_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Type_free(&column);
    MPI_Type_free(&resized);
    for (int round = 0; round < 2; round++) {
        memset(got, 0, sizeof got);
        MPI_Startall(2, requests);
        for (int p = 0; p < COLUMNS / 2; p++)
            MPI_Pready((p * 7 + 3) % (COLUMNS / 2), requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++)
                CHECK(got[c][r] == left_neighbour() * 1e6 + r * 1000 + c, "MPI-5.0 §4.2.3: partitions are consecutive");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    /* The other way: contiguous out, columns in. */
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &resized);
    MPI_Type_commit(&resized);
    MPI_Psend_init(got, 16, COLUMNS * ROWS / 16, MPI_DOUBLE, left_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(matrix, COLUMNS / 2, 2, resized, right_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    memset(matrix, 0, sizeof matrix);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 15, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            CHECK(matrix[r][c] == rank_of_world * 1e6 + r * 1000 + c, "MPI-5.0 §4.2.3: back where it came from");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&column);
    MPI_Type_free(&resized);
}

static void proc_null(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value = 77, flag = 0;
    MPI_Psend_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, requests);
        MPI_Pready(0, requests[0]);
        MPI_Parrived(requests[1], 0, &flag);
        CHECK_EQUAL(flag, 1, "MPI-5.0 §3.10");
        MPI_Waitall(2, requests, statuses);
        CHECK(status_is_proc_null(&statuses[1]), "MPI-5.0 §3.10");
        CHECK_EQUAL(value, 77, "MPI-5.0 §3.10");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* The large-count form, and a caller compiled for an MPI_Count in the plain one. */
typedef int count_psend(const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *);
typedef int count_precv(void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *);

static void forms_of_the_count(void)
{
    count_psend *const psend[] = { (count_psend *)(void (*)(void))MPI_Psend_init, MPI_Psend_init_c };
    count_precv *const precv[] = { (count_precv *)(void (*)(void))MPI_Precv_init, MPI_Precv_init_c };
    for (int form = 0; form < 2; form++) {
        MPI_Request requests[2];
        int out[6], in[6] = { 0 };
        for (int i = 0; i < 6; i++)
            out[i] = i + rank_of_world;
        psend[form](out, 2, (MPI_Count)3, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        precv[form](in, 3, (MPI_Count)2, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        MPI_Startall(2, requests);
        MPI_Pready_range(0, 1, requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 6; i++)
            CHECK_EQUAL(in[i], i + left_neighbour(), "MPI-5.0 §4.2.1");
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
}

/* A receive that was started before the send was made makes progress in any call that waits (MPI-5.0 §3.7.4): here
 * its process waits for an ordinary message that the other sends once its long partitions are gone. */
static void progress_elsewhere(void)
{
    enum { LENGTH = 1 << 20 };
    int other = rank_of_world ^ 1, token = 1;
    if (other >= size_of_world)
        return;
    MPI_Request request;
    char *buffer = need(2 * LENGTH);
    if (rank_of_world < other) {
        MPI_Precv_init(buffer, 2, LENGTH, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Send(&token, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(has_pattern(buffer, 2 * LENGTH, 3), "MPI-5.0 §4.2.2");
    } else {
        MPI_Recv(&token, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fill_pattern(buffer, 2 * LENGTH, 3);
        MPI_Psend_init(buffer, 2, LENGTH, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
    free(buffer);
}

/* Inactive requests are as null ones to MPI_Waitany and MPI_Waitsome (MPI-5.0 §3.7.5), which make the progress that the others
 * need: here messages so long that both sides have to move them. */
static void beside_inactive(void)
{
    enum { LENGTH = 1 << 20 };
    MPI_Request requests[4];
    char *out = need(LENGTH), *in = need(LENGTH);
    char part_out = 1, part_in = 0;
    int indices[4], count, index;
    MPI_Precv_init(&part_in, 1, 1, MPI_BYTE, left_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(&part_out, 1, 1, MPI_BYTE, right_neighbour(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 4; round++) {
        fill_pattern(out, LENGTH, (unsigned)(rank_of_world * 4 + round));
        MPI_Irecv(in, LENGTH, MPI_BYTE, left_neighbour(), 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out, LENGTH, MPI_BYTE, right_neighbour(), 2, MPI_COMM_WORLD, &requests[3]);
        for (int left = 2; left > 0; left -= count) {
            count = 1;
            if (round % 2 == 0) {
                MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
                CHECK(index == 2 || index == 3, "MPI-5.0 §3.7.5: of the active ones");
            } else {
                MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
            }
        }
        CHECK(has_pattern(in, LENGTH, (unsigned)(left_neighbour() * 4 + round)), "MPI-5.0 §3.7.5");
        MPI_Startall(2, requests); /* inactive again in the next round, after having been active */
        MPI_Pready(0, requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "completion");
    among_others();
    derived();
    proc_null();
    forms_of_the_count();
    progress_elsewhere();
    beside_inactive();
    return check_finish();
}
