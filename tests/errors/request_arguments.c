/* Wrong requests, counts, statuses and pointers in completion calls: MPI-5.0 §3.7, §3.9.
 *
 * MPICH 5.0.2 crashes on null pointers to requests.
 * ranks: 1,2 */
#include "expect.h"

static int value = 1, flag, index_, count;
static int indices[4];
static MPI_Status status, statuses[4];

static void null_requests(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&none));
    EXPECT(MPI_ERR_REQUEST, MPI_Startall(1, &none));
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&none));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&none));
}

static void null_pointers(void)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Wait(NULL, &status));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Test(NULL, &flag, &status));
    EXPECT(MPI_ERR_ARG, MPI_Test(requests, NULL, &status));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Waitany(1, NULL, &index_, &status));
    EXPECT(MPI_ERR_ARG, MPI_Waitany(1, requests, NULL, &status));
    EXPECT(MPI_ERR_ARG, MPI_Testany(1, requests, &index_, NULL, &status));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Waitall(2, NULL, statuses));
    EXPECT(MPI_ERR_ARG, MPI_Testall(2, requests, NULL, statuses));
    EXPECT(MPI_ERR_ARG, MPI_Waitsome(2, requests, NULL, indices, statuses));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Start(NULL));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Cancel(NULL));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Request_free(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Request_get_status(requests[0], NULL, &status));
}

static void negative_counts(void)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Waitany(-1, requests, &index_, &status));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Testany(-1, requests, &index_, &flag, &status));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Waitall(-1, requests, statuses));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Testall(-1, requests, &flag, statuses));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Waitsome(-1, requests, &count, indices, statuses));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Testsome(-1, requests, &count, indices, statuses));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Startall(-1, requests));
}

/* MPI_Start wants an inactive persistent request: MPI-5.0 §3.9. */
static void start_of_others(void)
{
    MPI_Request plain, persistent, pair[2];
    MPI_Irecv(&value, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, &plain);
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&plain));
    EXPECT(MPI_ERR_REQUEST, MPI_Startall(1, &plain));
    MPI_Cancel(&plain);
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
    MPI_Recv_init(&value, 1, MPI_INT, 0, 78, MPI_COMM_WORLD, &persistent);
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&persistent));
    MPI_Start(&persistent);
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&persistent));
    pair[0] = pair[1] = persistent;
    EXPECT(MPI_ERR_REQUEST, MPI_Startall(2, pair));
    MPI_Cancel(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Request_free(&persistent);
}

static void status_accessors(void)
{
    MPI_Count big;
    memset(&status, 0, sizeof status);
    EXPECT(MPI_ERR_TYPE, MPI_Get_count(&status, MPI_DATATYPE_NULL, &count));
    EXPECT(MPI_ERR_TYPE, MPI_Get_count_c(&status, MPI_DATATYPE_NULL, &big));
    EXPECT(MPI_ERR_ARG, MPI_Get_count(NULL, MPI_INT, &count));
    EXPECT(MPI_ERR_ARG, MPI_Get_count(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Get_count_c(NULL, MPI_INT, &big));
    EXPECT(MPI_ERR_ARG, MPI_Get_count_c(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Test_cancelled(NULL, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Test_cancelled(&status, NULL));
    EXPECT_COUNTS(MPI_ERR_COUNT, Status_set_elements, &status, MPI_INT, -1);
    EXPECT_COUNTS(MPI_ERR_TYPE, Status_set_elements, &status, MPI_DATATYPE_NULL, 1);
    EXPECT_COUNTS(MPI_ERR_ARG, Status_set_elements, NULL, MPI_INT, 1);
    EXPECT(MPI_ERR_ARG, MPI_Status_set_cancelled(NULL, 1));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "request_arguments");
    null_requests();
    null_pointers();
    negative_counts();
    start_of_others();
    status_accessors();
    return expect_finish();
}
