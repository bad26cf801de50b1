/* Generalized requests: which of the program's functions is called when, what their status and error codes become, among
 * other requests, freed and cancelled. MPI-5.0 §13.2. */
#include "check.h"

struct work {
    int queries, frees, cancels, cancel_complete;
    int query_code, free_code, cancel_code;
    int elements, cancelled;
};

static int query(void *extra_state, MPI_Status *status)
{
    struct work *work = extra_state;
    work->queries++;
    CHECK(status != NULL && status != MPI_STATUS_IGNORE, "MPI-5.0 §13.2: a valid status, though the caller ignores it");
    MPI_Status_set_elements(status, MPI_INT, work->elements);
    MPI_Status_set_cancelled(status, work->cancelled);
    status->MPI_SOURCE = 41;
    status->MPI_TAG = 42;
    return work->query_code;
}

static int free_work(void *extra_state)
{
    struct work *work = extra_state;
    work->frees++;
    return work->free_code;
}

static int cancel(void *extra_state, int complete)
{
    struct work *work = extra_state;
    work->cancels++;
    work->cancel_complete = complete;
    return work->cancel_code;
}

static MPI_Request start(struct work *work, int elements)
{
    MPI_Request request = MPI_REQUEST_NULL;
    memset(work, 0, sizeof *work);
    work->elements = elements;
    CHECK_EQUAL(MPI_Grequest_start(query, free_work, cancel, work, &request), MPI_SUCCESS, "MPI-5.0 §13.2");
    CHECK(request != MPI_REQUEST_NULL, "MPI-5.0 §13.2");
    return request;
}

static void check_status(const MPI_Status *status, int elements)
{
    CHECK_EQUAL(status->MPI_SOURCE, 41, "MPI-5.0 §13.2");
    CHECK_EQUAL(status->MPI_TAG, 42, "MPI-5.0 §13.2");
    CHECK_EQUAL(status_count(status, MPI_INT), elements, "MPI-5.0 §13.3");
}

static void one(void)
{
    struct work work;
    MPI_Status status;
    int flag = -1;
    MPI_Request request = start(&work, 7);
    for (int look = 0; look < 10; look++) {
        MPI_Test(&request, &flag, &status);
        CHECK(!flag && request != MPI_REQUEST_NULL, "MPI-5.0 §13.2: not complete");
        MPI_Request_get_status(request, &flag, &status);
        CHECK_EQUAL(flag, 0, "MPI-5.0 §3.7.6");
    }
    CHECK_EQUAL(work.queries + work.frees, 0, "MPI-5.0 §13.2: no function before completion");
    MPI_Grequest_complete(request);
    CHECK_EQUAL(work.queries + work.frees, 0, "MPI-5.0 §13.2: nor by completion itself");
    MPI_Request_get_status(request, &flag, &status);
    CHECK_EQUAL(flag, 1, "MPI-5.0 §3.7.6");
    check_status(&status, 7);
    CHECK(work.queries == 1 && work.frees == 0, "MPI-5.0 §3.7.6, §13.2: asked and not freed");
    MPI_Wait(&request, &status);
    check_status(&status, 7);
    CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    CHECK(work.queries == 2 && work.frees == 1 && work.cancels == 0, "MPI-5.0 §13.2");
    /* The status ignored, and by MPI_Test. */
    request = start(&work, 1);
    MPI_Grequest_complete(request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && request == MPI_REQUEST_NULL && work.queries == 1 && work.frees == 1, "MPI-5.0 §13.2");
}

/* In arrays with ordinary requests; each calls that completes. */
static void among_others(void)
{
    enum { N = 4 };
    struct work works[N];
    MPI_Request requests[N + 2];
    MPI_Status statuses[N + 2];
    int out = rank_of_world, in = -1, count, indices[N + 2], index, flag = -1;
    for (int i = 0; i < N; i++)
        requests[i] = start(&works[i], i);
    MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(flag, 0, "MPI-5.0 §3.7.5");
    MPI_Testany(N, requests, &index, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0, "MPI-5.0 §3.7.5");
    MPI_Grequest_complete(requests[2]);
    MPI_Waitany(N, requests, &index, &statuses[0]);
    CHECK_EQUAL(index, 2, "MPI-5.0 §3.7.5");
    check_status(&statuses[0], 2);
    CHECK(works[2].frees == 1 && requests[2] == MPI_REQUEST_NULL, "MPI-5.0 §13.2");
    MPI_Irecv(&in, 1, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, &requests[N]);
    MPI_Isend(&out, 1, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD, &requests[N + 1]);
    for (int done = 0; done < 2; done += count) {
        MPI_Waitsome(N + 2, requests, &count, indices, statuses);
        for (int i = 0; i < count; i++)
            CHECK(indices[i] >= N, "MPI-5.0 §3.7.5: only the ordinary ones");
    }
    CHECK_EQUAL(in, left_neighbour(), "MPI-5.0 §3.7.5");
    MPI_Grequest_complete(requests[0]);
    MPI_Testsome(N + 2, requests, &count, indices, statuses);
    CHECK(count == 1 && indices[0] == 0, "MPI-5.0 §3.7.5");
    check_status(&statuses[0], 0);
    MPI_Grequest_complete(requests[1]);
    MPI_Grequest_complete(requests[3]);
    MPI_Waitall(N + 2, requests, statuses);
    check_status(&statuses[1], 1);
    check_status(&statuses[3], 3);
    CHECK(status_is_empty(&statuses[0]) && status_is_empty(&statuses[N]), "MPI-5.0 §3.7.5: null ones");
    for (int i = 0; i < N; i++)
        CHECK(works[i].queries == 1 && works[i].frees == 1, "MPI-5.0 §13.2: once each");
}

/* Freed before and after completion: the free function is called by whichever comes last, the query function never. */
static void freed(void)
{
    struct work work;
    MPI_Request request = start(&work, 1), copy = request;
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL && work.frees == 0, "MPI-5.0 §13.2: not before it is complete");
    MPI_Grequest_complete(copy);
    CHECK(work.frees == 1 && work.queries == 0, "MPI-5.0 §13.2");
    request = start(&work, 1);
    MPI_Grequest_complete(request);
    CHECK_EQUAL(work.frees, 0, "MPI-5.0 §13.2");
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL && work.frees == 1 && work.queries == 0, "MPI-5.0 §13.2");
}

static void cancelled(void)
{
    struct work work;
    MPI_Status status;
    int flag = 0;
    MPI_Request request = start(&work, 0);
    MPI_Cancel(&request);
    CHECK(work.cancels == 1 && work.cancel_complete == 0, "MPI-5.0 §13.2: not complete yet");
    work.cancelled = 1;
    MPI_Grequest_complete(request);
    MPI_Cancel(&request);
    CHECK(work.cancels == 2 && work.cancel_complete != 0, "MPI-5.0 §13.2: complete");
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQUAL(flag, 1, "MPI-5.0 §13.2, §13.3");
}

/* The program's error codes come back from the calls. */
static void failing(void)
{
    struct work work, other;
    MPI_Status status, statuses[2];
    int class, code;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Request request = start(&work, 3), requests[2];
    work.cancel_code = code;
    CHECK_EQUAL(MPI_Cancel(&request), code, "MPI-5.0 §13.2: the cancel function's");
    work.query_code = code;
    MPI_Grequest_complete(request);
    int flag;
    CHECK_EQUAL(MPI_Request_get_status(request, &flag, &status), code, "MPI-5.0 §13.2: the query function's");
    work.query_code = MPI_SUCCESS;
    work.free_code = code;
    CHECK_EQUAL(MPI_Wait(&request, &status), code, "MPI-5.0 §13.2: the free function's");
    CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    check_status(&status, 3);
    request = start(&work, 3);
    work.query_code = code;
    MPI_Grequest_complete(request);
    CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), code, "MPI-5.0 §13.2: the query function's, not lost");
    requests[0] = start(&work, 5);
    requests[1] = start(&other, 6);
    work.free_code = code;
    MPI_Grequest_complete(requests[0]);
    MPI_Grequest_complete(requests[1]);
    CHECK_EQUAL(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS, "MPI-5.0 §13.2");
    CHECK_EQUAL(statuses[0].MPI_ERROR, code, "MPI-5.0 §13.2: the free function's");
    CHECK_EQUAL(statuses[1].MPI_ERROR, MPI_SUCCESS, "MPI-5.0 §3.7.5");
    check_status(&statuses[0], 5);
    check_status(&statuses[1], 6);
    request = start(&work, 1);
    work.free_code = code;
    MPI_Grequest_complete(request);
    CHECK_EQUAL(MPI_Request_free(&request), code, "MPI-5.0 §13.2");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "generalized");
    one();
    among_others();
    freed();
    cancelled();
    failing();
    return check_finish();
}
