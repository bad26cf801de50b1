/* Communication with MPI_PROC_NULL completes at once and changes nothing: MPI-5.0 §3.11. */
#include "check.h"

static int value = 1234;
static MPI_Status status;

static void unchanged(const char *clause)
{
    CHECK_EQUAL(value, 1234, clause);
    CHECK(status_is_proc_null(&status), clause);
    memset(&status, 0x11, sizeof status);
}

static void sends(void)
{
    MPI_Request request;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    int (*const start[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend, MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
        MPI_Rsend_init,
    };
    for (int i = 0; i < 8; i++) {
        start[i](&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
        for (int round = 0; round < (i < 4 ? 1 : 3); round++) {
            if (i >= 4)
                MPI_Start(&request);
            CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "MPI-5.0 §3.11");
        }
        if (i >= 4)
            MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
    }
}

static void receives(void)
{
    MPI_Request request;
    int flag = 0;
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    unchanged("MPI-5.0 §3.11: Recv");
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    unchanged("MPI-5.0 §3.11: Recv of any tag");
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    unchanged("MPI-5.0 §3.11: Irecv");
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, &status);
    unchanged("MPI-5.0 §3.11: Irecv, Test");
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQUAL(value, 1234, "MPI-5.0 §3.11: persistent");
    }
    MPI_Request_free(&request);
}

static void pairs(void)
{
    int in = -1, out = rank_of_world;
    int right = rank_of_world + 1 < size_of_world ? rank_of_world + 1 : MPI_PROC_NULL;
    int left = rank_of_world > 0 ? rank_of_world - 1 : MPI_PROC_NULL;
    MPI_Request request;
    /* The open chain, for which the standard has MPI_PROC_NULL. */
    MPI_Sendrecv(&out, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(in, rank_of_world - 1, "MPI-5.0 §3.11");
    CHECK_EQUAL(status.MPI_SOURCE, left, "MPI-5.0 §3.11");
    MPI_Isendrecv(&out, 1, MPI_INT, left, 3, &in, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, right == MPI_PROC_NULL ? rank_of_world - 1 : right, "MPI-5.0 §3.11");
    memset(&status, 0x11, sizeof status);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    unchanged("MPI-5.0 §3.11: Sendrecv_replace");
    MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                          &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, 1234, "MPI-5.0 §3.11: Isendrecv_replace");
}

static void probes(void)
{
    int flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    unchanged("MPI-5.0 §3.8.1");
    MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag == 1, "MPI-5.0 §3.8.1");
    unchanged("MPI-5.0 §3.8.1");
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC, "MPI-5.0 §3.8.2");
    unchanged("MPI-5.0 §3.8.2");
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL, "MPI-5.0 §3.8.3");
    unchanged("MPI-5.0 §3.8.3");
    flag = 0;
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag == 1 && message == MPI_MESSAGE_NO_PROC, "MPI-5.0 §3.8.2");
    unchanged("MPI-5.0 §3.8.2");
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    CHECK(message == MPI_MESSAGE_NULL, "MPI-5.0 §3.8.3");
    MPI_Wait(&request, &status);
    unchanged("MPI-5.0 §3.8.3");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "proc_null");
    static char buffer[4096];
    void *detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    memset(&status, 0x11, sizeof status);
    sends();
    receives();
    pairs();
    probes();
    MPI_Buffer_detach(&detached, &size);
    return check_finish();
}
