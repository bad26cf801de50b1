/* Wrong arguments of generalized requests: MPI-5.0 §13.2.
 * ranks: 1,2 */
#include "expect.h"

static int frees;

static int query(void *extra_state, MPI_Status *status)
{
    (void)extra_state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int free_work(void *extra_state)
{
    (void)extra_state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra_state, int complete)
{
    (void)extra_state;
    (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Request request, ordinary, stale;
    int value;
    expect_start(&argc, &argv, "generalized_arguments");
    EXPECT(MPI_ERR_ARG, MPI_Grequest_start(NULL, free_work, cancel, NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Grequest_start(query, NULL, cancel, NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Grequest_start(query, free_work, NULL, NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Grequest_start(query, free_work, cancel, NULL, NULL));
    EXPECT(MPI_ERR_REQUEST, MPI_Grequest_complete(MPI_REQUEST_NULL));
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &ordinary);
    EXPECT(MPI_ERR_REQUEST, MPI_Grequest_complete(ordinary));
    MPI_Wait(&ordinary, MPI_STATUS_IGNORE);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &ordinary);
    EXPECT(MPI_ERR_REQUEST, MPI_Grequest_complete(ordinary));
    MPI_Request_free(&ordinary);
    MPI_Grequest_start(query, free_work, cancel, NULL, &request);
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&request));
    EXPECT(MPI_ERR_REQUEST, MPI_Pready(0, request));
    MPI_Grequest_complete(request);
    EXPECT(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    stale = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(MPI_ERR_REQUEST, MPI_Grequest_complete(stale));
    EXPECT(MPI_ERR_REQUEST, MPI_Wait(&stale, MPI_STATUS_IGNORE));
    /* Freed and not complete: its handle is good for completing it alone. */
    MPI_Grequest_start(query, free_work, cancel, NULL, &request);
    MPI_Request copy = stale = request;
    MPI_Request_free(&request);
    EXPECT(MPI_ERR_REQUEST, MPI_Wait(&copy, MPI_STATUS_IGNORE));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&copy));
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&copy));
    CHECK(MPI_Grequest_complete(stale) == MPI_SUCCESS && frees == 2, "MPI-5.0 §13.2");
    return expect_finish();
}
