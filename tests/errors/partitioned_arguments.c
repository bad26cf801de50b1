/* Wrong arguments of partitioned communication: MPI-5.0 §4.2.
 * ranks: 1,2 */
#include "expect.h"

static int buffer[8];

static void initialisation(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Info no = MPI_INFO_NULL;
    MPI_Request r;
    int n = size_of_world;
    EXPECT_COUNTS(MPI_ERR_ARG, Psend_init, buffer, 0, 1, MPI_INT, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_ARG, Psend_init, buffer, -2, 1, MPI_INT, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_COUNT, Psend_init, buffer, 2, -1, MPI_INT, 0, 1, w, no, &r);
    EXPECT(MPI_ERR_COUNT, MPI_Psend_init_c(buffer, 1 << 30, (MPI_Count)1 << 62, MPI_INT, 0, 1, w, no, &r));
    EXPECT_COUNTS(MPI_ERR_TYPE, Psend_init, buffer, 2, 1, MPI_DATATYPE_NULL, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_RANK, Psend_init, buffer, 2, 1, MPI_INT, n, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_RANK, Psend_init, buffer, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_TAG, Psend_init, buffer, 2, 1, MPI_INT, 0, -1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_COMM, Psend_init, buffer, 2, 1, MPI_INT, 0, 1, MPI_COMM_NULL, no, &r);
    EXPECT_COUNTS(MPI_ERR_INFO, Psend_init, buffer, 2, 1, MPI_INT, 0, 1, w, (MPI_Info)0xdead000, &r);
    EXPECT_COUNTS(MPI_ERR_ARG, Psend_init, buffer, 2, 1, MPI_INT, 0, 1, w, no, NULL);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Psend_init, NULL, 2, 1, MPI_INT, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_ARG, Precv_init, buffer, 0, 1, MPI_INT, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_COUNT, Precv_init, buffer, 2, -1, MPI_INT, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_TYPE, Precv_init, buffer, 2, 1, MPI_DATATYPE_NULL, 0, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_RANK, Precv_init, buffer, 2, 1, MPI_INT, n, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_RANK, Precv_init, buffer, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_TAG, Precv_init, buffer, 2, 1, MPI_INT, 0, MPI_ANY_TAG, w, no, &r);
    EXPECT_COUNTS(MPI_ERR_COMM, Precv_init, buffer, 2, 1, MPI_INT, 0, 1, MPI_COMM_NULL, no, &r);
    EXPECT_COUNTS(MPI_ERR_INFO, Precv_init, buffer, 2, 1, MPI_INT, 0, 1, w, (MPI_Info)0xdead000, &r);
    EXPECT_COUNTS(MPI_ERR_ARG, Precv_init, buffer, 2, 1, MPI_INT, 0, 1, w, no, NULL);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Precv_init, NULL, 2, 1, MPI_INT, 0, 1, w, no, &r);
}

/* A send and a receive of this process with itself. */
static void use(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request send, receive, ordinary, null = MPI_REQUEST_NULL;
    int me = rank_of_world, in[4] = { 0 }, list[2] = { 0, 4 }, flag;
    MPI_Psend_init(buffer, 4, 1, MPI_INT, me, 1, w, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, 2, 2, MPI_INT, me, 1, w, MPI_INFO_NULL, &receive);
    EXPECT(MPI_ERR_REQUEST, MPI_Pready(0, send));
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&send));
    MPI_Start(&send);
    MPI_Start(&receive);
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&send));
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&receive));
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&send));
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&receive));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&send));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&receive));
    EXPECT(MPI_ERR_ARG, MPI_Pready(4, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready(-1, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready_range(2, 1, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready_range(-1, 1, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready_range(1, 4, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready_list(2, list, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready_list(-1, list, send));
    EXPECT(MPI_ERR_ARG, MPI_Pready_list(2, NULL, send));
    EXPECT(MPI_ERR_REQUEST, MPI_Pready(0, receive));
    EXPECT(MPI_ERR_REQUEST, MPI_Pready(0, null));
    EXPECT(MPI_ERR_REQUEST, MPI_Pready_range(0, 1, null));
    EXPECT(MPI_ERR_REQUEST, MPI_Pready_list(1, list, receive));
    EXPECT(MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Parrived(receive, 2, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Parrived(receive, -1, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Parrived(receive, 0, NULL));
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 0, w, &ordinary);
    EXPECT(MPI_ERR_REQUEST, MPI_Pready(0, ordinary));
    EXPECT(MPI_ERR_REQUEST, MPI_Parrived(ordinary, 0, &flag));
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&ordinary));
    MPI_Wait(&ordinary, MPI_STATUS_IGNORE);
    MPI_Pready(2, send);
    EXPECT(MPI_ERR_ARG, MPI_Pready(2, send));
    /* What was wrong has marked nothing: the rest goes as it should. */
    MPI_Pready_range(0, 1, send);
    MPI_Pready(3, send);
    CHECK(MPI_Wait(&send, MPI_STATUS_IGNORE) == MPI_SUCCESS, "MPI-5.0 §4.2.2");
    CHECK(MPI_Wait(&receive, MPI_STATUS_IGNORE) == MPI_SUCCESS, "MPI-5.0 §4.2.2");
    MPI_Request stale = send;
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    EXPECT(MPI_ERR_REQUEST, MPI_Pready(0, stale));
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&stale));
}

/* More is sent than there is room for. */
static void truncation(void)
{
    MPI_Request send, receive;
    int in[4] = { 0, 0, 0, -5 };
    for (int i = 0; i < 8; i++)
        buffer[i] = i + 1;
    MPI_Psend_init(buffer, 4, 2, MPI_INT, rank_of_world, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, 3, 1, MPI_INT, rank_of_world, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&send);
    MPI_Start(&receive);
    MPI_Pready_range(0, 3, send);
    CHECK(MPI_Wait(&send, MPI_STATUS_IGNORE) == MPI_SUCCESS, "MPI-5.0 §4.2.2");
    EXPECT(MPI_ERR_TRUNCATE, MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(in[2] == 3 && in[3] == -5, "MPI-5.0 §3.2.2");
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "partitioned_arguments");
    initialisation();
    use();
    truncation();
    return expect_finish();
}
