/* Completion calls on null and inactive requests and on empty lists: MPI-5.0 §3.7.3 and §3.7.5. */
#include "check.h"

enum { REQUESTS = 4 };
static MPI_Request requests[REQUESTS];
static MPI_Status statuses[REQUESTS];
static int indices[REQUESTS];

static void scribble(void)
{
    memset(statuses, 0x11, sizeof statuses);
}

static void one(void)
{
    int flag = 0;
    MPI_Request before = requests[0];
    scribble();
    MPI_Wait(&requests[0], &statuses[0]);
    CHECK(status_is_empty(&statuses[0]), "MPI-5.0 §3.7.3: Wait returns an empty status");
    scribble();
    MPI_Test(&requests[0], &flag, &statuses[0]);
    CHECK(flag == 1 && status_is_empty(&statuses[0]), "MPI-5.0 §3.7.3: Test");
    scribble();
    flag = 0;
    MPI_Request_get_status(requests[0], &flag, &statuses[0]);
    CHECK(flag == 1 && status_is_empty(&statuses[0]), "MPI-5.0 §3.7.6: Request_get_status");
    CHECK(requests[0] == before, "MPI-5.0 §3.7.3: the request stays");
}

static void any(int count)
{
    int index = 77, flag = 0;
    scribble();
    MPI_Waitany(count, requests, &index, &statuses[0]);
    CHECK(index == MPI_UNDEFINED && status_is_empty(&statuses[0]), "MPI-5.0 §3.7.5: Waitany");
    scribble();
    index = 77;
    MPI_Testany(count, requests, &index, &flag, &statuses[0]);
    CHECK(flag == 1 && index == MPI_UNDEFINED, "MPI-5.0 §3.7.5: Testany");
    CHECK(status_is_empty(&statuses[0]), "MPI-5.0 §3.7.5: Testany");
    scribble();
    index = 77;
    flag = 0;
    MPI_Request_get_status_any(count, requests, &index, &flag, &statuses[0]);
    CHECK(flag == 1 && index == MPI_UNDEFINED, "MPI-5.0 §3.7.6: Request_get_status_any");
    CHECK(status_is_empty(&statuses[0]), "MPI-5.0 §3.7.6: Request_get_status_any");
}

static void all(int count)
{
    int flag = 0;
    scribble();
    MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++)
        CHECK(status_is_empty(&statuses[i]), "MPI-5.0 §3.7.5: Waitall");
    scribble();
    MPI_Testall(count, requests, &flag, statuses);
    CHECK(flag == 1, "MPI-5.0 §3.7.5: Testall");
    for (int i = 0; i < count; i++)
        CHECK(status_is_empty(&statuses[i]), "MPI-5.0 §3.7.5: Testall");
    scribble();
    flag = 0;
    MPI_Request_get_status_all(count, requests, &flag, statuses);
    CHECK(flag == 1, "MPI-5.0 §3.7.6: Request_get_status_all");
    for (int i = 0; i < count; i++)
        CHECK(status_is_empty(&statuses[i]), "MPI-5.0 §3.7.6: Request_get_status_all");
}

static void some(int count)
{
    int done = 77;
    MPI_Waitsome(count, requests, &done, indices, statuses);
    CHECK_EQUAL(done, MPI_UNDEFINED, "MPI-5.0 §3.7.5: Waitsome");
    done = 77;
    MPI_Testsome(count, requests, &done, indices, statuses);
    CHECK_EQUAL(done, MPI_UNDEFINED, "MPI-5.0 §3.7.5: Testsome");
    done = 77;
    MPI_Request_get_status_some(count, requests, &done, indices, statuses);
    CHECK_EQUAL(done, MPI_UNDEFINED, "MPI-5.0 §3.7.6: Request_get_status_some");
}

static void every_call(void)
{
    one();
    for (int count = 0; count <= REQUESTS; count++) {
        any(count);
        all(count);
        some(count);
    }
}

int main(int argc, char **argv)
{
    int in = 0, out = 0;
    check_start(&argc, &argv, "completion_null");
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    every_call();
    MPI_Recv_init(&in, 1, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD, &requests[2]);
    every_call();
    /* Started and completed, they are inactive again. */
    MPI_Start(&requests[0]);
    MPI_Start(&requests[2]);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    every_call();
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[2]);
    every_call();
    return check_finish();
}
