/* A message longer than its receive: MPI_ERR_TRUNCATE, in the return value of the calls that finish one
 * request, in the statuses where MPI_ERR_IN_STATUS is returned; nothing beyond the buffer is written. */
#include "check.h"

enum { SENT = 100, ROOM = 60 };

static const int sizes[] = { 2, 64, 1000, 20000, 300000 };

static void send_long(const char *data, int unit, MPI_Request *request)
{
    MPI_Isend(data, SENT * unit, MPI_CHAR, right_neighbour(), 1, MPI_COMM_WORLD, request);
}

static void untouched(const char *buffer, int unit)
{
    for (int i = ROOM * unit; i < SENT * unit; i++)
        CHECK(buffer[i] == 0x5A, "MPI-5.0 §3.2.4: nothing is written beyond the receive buffer");
}

/* `form`: how the receive is made and finished. */
static void blocking(char *got, const char *data, int unit, int late)
{
    MPI_Request send, receive;
    MPI_Status status;
    memset(got, 0x5A, (size_t)(SENT * unit));
    if (late) {
        send_long(data, unit, &send);
        MPI_Probe(left_neighbour(), 1, MPI_COMM_WORLD, &status);
        CHECK_CLASS(MPI_Recv(got, ROOM * unit, MPI_CHAR, left_neighbour(), 1, MPI_COMM_WORLD, &status),
                    MPI_ERR_TRUNCATE, "MPI-5.0 §3.2.4");
    } else {
        MPI_Irecv(got, ROOM * unit, MPI_CHAR, left_neighbour(), 1, MPI_COMM_WORLD, &receive);
        MPI_Barrier(MPI_COMM_WORLD);
        send_long(data, unit, &send);
        CHECK_CLASS(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE, "MPI-5.0 §3.2.4");
        CHECK(receive == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    }
    CHECK_EQUAL(status.MPI_SOURCE, left_neighbour(), "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status.MPI_TAG, 1, "MPI-5.0 §3.2.5");
    untouched(got, unit);
    CHECK_EQUAL(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS, "MPI-5.0 §3.7.3: the send is in order");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A good receive and a truncated one in one Waitall, Waitsome or Testall. */
static void in_status(char *got, const char *data, int unit, int form)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int good = -1, value = 44, indices[3], done = 0, flag = 0, code = MPI_SUCCESS;
    memset(got, 0x5A, (size_t)(SENT * unit));
    MPI_Irecv(&good, 1, MPI_INT, left_neighbour(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(got, ROOM * unit, MPI_CHAR, left_neighbour(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    send_long(data, unit, &requests[2]);
    MPI_Send(&value, 1, MPI_INT, right_neighbour(), 2, MPI_COMM_WORLD);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        statuses[i].MPI_ERROR = MPI_ERR_PENDING;
    if (form == 0) {
        code = MPI_Waitall(2, requests, statuses);
    } else if (form == 1) {
        while (!flag)
            code = MPI_Testall(2, requests, &flag, statuses);
    } else {
        while (requests[1] != MPI_REQUEST_NULL) {
            MPI_Status some[2];
            code = MPI_Waitsome(2, requests, &done, indices, some);
            for (int i = 0; i < done; i++) {
                statuses[indices[i]] = some[i];
                if (class_of(code) != MPI_ERR_IN_STATUS)
                    statuses[indices[i]].MPI_ERROR = MPI_SUCCESS;
            }
        }
        if (requests[0] != MPI_REQUEST_NULL)
            statuses[0].MPI_ERROR = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(class_of(code), MPI_ERR_IN_STATUS, "MPI-5.0 §3.7.5");
    if (class_of(statuses[0].MPI_ERROR) == MPI_ERR_PENDING)
        statuses[0].MPI_ERROR = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK_EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS, "MPI-5.0 §3.7.5");
    CHECK_EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE, "MPI-5.0 §3.7.5");
    CHECK(requests[1] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.5: the failed request is completed");
    CHECK_EQUAL(good, 44, "MPI-5.0 §3.7.5: the others are completed");
    untouched(got, unit);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI_Waitany and MPI_Testany finish one request: the code itself tells. */
static void by_index(char *got, const char *data, int unit, int test)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL }, send;
    MPI_Status status;
    int index = -1, flag = 0, code = MPI_SUCCESS;
    memset(got, 0x5A, (size_t)(SENT * unit));
    MPI_Irecv(got, ROOM * unit, MPI_CHAR, left_neighbour(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    send_long(data, unit, &send);
    if (!test)
        code = MPI_Waitany(2, requests, &index, &status);
    while (test && !flag)
        code = MPI_Testany(2, requests, &index, &flag, &status);
    CHECK_EQUAL(class_of(code), MPI_ERR_TRUNCATE, "MPI-5.0 §3.7.5");
    CHECK_EQUAL(index, 1, "MPI-5.0 §3.7.5");
    untouched(got, unit);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "truncation");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* Requests of several communicators could be waited for: MPI_Waitall's own errors go to MPI_COMM_SELF. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int unit = sizes[s] / SENT ? sizes[s] / SENT : 1;
        char *data = need((size_t)(SENT * unit)), *got = need((size_t)(SENT * unit));
        fill_pattern(data, (size_t)(SENT * unit), 3);
        blocking(got, data, unit, 0);
        blocking(got, data, unit, 1);
        for (int form = 0; form < 3; form++)
            in_status(got, data, unit, form);
        by_index(got, data, unit, 0);
        by_index(got, data, unit, 1);
        free(data);
        free(got);
    }
    return check_finish();
}
