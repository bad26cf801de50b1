/* Wrong arguments of the send-receive family, of probes and of matched receives: MPI-5.0 §3.8, §3.10.
 * ranks: 1,2 */
#include "expect.h"

static int out = 1, in = 2;
static MPI_Status status;
static MPI_Request request;

static void sendrecv(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int n = size_of_world, no = MPI_PROC_NULL;
    const struct {
        int send_count, dest, send_tag, receive_count, source, receive_tag, class;
        MPI_Datatype send_type, receive_type;
        MPI_Comm comm;
    } rows[] = {
        { -1, no, 1, 1, no, 1, MPI_ERR_COUNT, MPI_INT, MPI_INT, w },
        { 1, n, 1, 1, no, 1, MPI_ERR_RANK, MPI_INT, MPI_INT, w },
        { 1, MPI_ANY_SOURCE, 1, 1, no, 1, MPI_ERR_RANK, MPI_INT, MPI_INT, w },
        { 1, no, -9, 1, no, 1, MPI_ERR_TAG, MPI_INT, MPI_INT, w },
        { 1, no, MPI_ANY_TAG, 1, no, 1, MPI_ERR_TAG, MPI_INT, MPI_INT, w },
        { 1, no, 1, -1, no, 1, MPI_ERR_COUNT, MPI_INT, MPI_INT, w },
        { 1, no, 1, 1, n, 1, MPI_ERR_RANK, MPI_INT, MPI_INT, w },
        { 1, no, 1, 1, -50, 1, MPI_ERR_RANK, MPI_INT, MPI_INT, w },
        { 1, no, 1, 1, no, -9, MPI_ERR_TAG, MPI_INT, MPI_INT, w },
        { 1, no, 1, 1, no, 1, MPI_ERR_TYPE, MPI_DATATYPE_NULL, MPI_INT, w },
        { 1, no, 1, 1, no, 1, MPI_ERR_TYPE, MPI_INT, MPI_DATATYPE_NULL, w },
        { 1, no, 1, 1, no, 1, MPI_ERR_COMM, MPI_INT, MPI_INT, MPI_COMM_NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char detail[32];
        snprintf(detail, sizeof detail, ": row %zu", i);
        expect_class(__FILE__, __LINE__, "MPI_Sendrecv", detail,
                     RESULT_OF(MPI_Sendrecv(&out, rows[i].send_count, rows[i].send_type, rows[i].dest,
                                            rows[i].send_tag, &in, rows[i].receive_count,
                                            rows[i].receive_type, rows[i].source, rows[i].receive_tag,
                                            rows[i].comm, &status)),
                     rows[i].class, rows[i].class);
        expect_class(__FILE__, __LINE__, "MPI_Isendrecv", detail,
                     RESULT_OF(MPI_Isendrecv(&out, rows[i].send_count, rows[i].send_type, rows[i].dest,
                                             rows[i].send_tag, &in, rows[i].receive_count,
                                             rows[i].receive_type, rows[i].source, rows[i].receive_tag,
                                             rows[i].comm, &request)),
                     rows[i].class, rows[i].class);
    }
}

static void sendrecv_replace(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int no = MPI_PROC_NULL;
    EXPECT(MPI_ERR_COUNT, MPI_Sendrecv_replace(&in, -1, MPI_INT, no, 1, no, 1, w, &status));
    EXPECT(MPI_ERR_TYPE, MPI_Sendrecv_replace(&in, 1, MPI_DATATYPE_NULL, no, 1, no, 1, w, &status));
    EXPECT(MPI_ERR_RANK, MPI_Sendrecv_replace(&in, 1, MPI_INT, -70, 1, no, 1, w, &status));
    EXPECT(MPI_ERR_RANK, MPI_Sendrecv_replace(&in, 1, MPI_INT, no, 1, size_of_world, 1, w, &status));
    EXPECT(MPI_ERR_TAG, MPI_Sendrecv_replace(&in, 1, MPI_INT, no, -5, no, 1, w, &status));
    EXPECT(MPI_ERR_TAG, MPI_Sendrecv_replace(&in, 1, MPI_INT, no, 1, no, -5, w, &status));
    EXPECT(MPI_ERR_COMM, MPI_Sendrecv_replace(&in, 1, MPI_INT, no, 1, no, 1, MPI_COMM_NULL, &status));
    EXPECT(MPI_ERR_COUNT, MPI_Isendrecv_replace(&in, -1, MPI_INT, no, 1, no, 1, w, &request));
    EXPECT(MPI_ERR_TYPE, MPI_Isendrecv_replace(&in, 1, MPI_DATATYPE_NULL, no, 1, no, 1, w, &request));
    EXPECT(MPI_ERR_RANK, MPI_Isendrecv_replace(&in, 1, MPI_INT, -70, 1, no, 1, w, &request));
    EXPECT(MPI_ERR_TAG, MPI_Isendrecv_replace(&in, 1, MPI_INT, no, 1, no, -5, w, &request));
    EXPECT(MPI_ERR_COMM, MPI_Isendrecv_replace(&in, 1, MPI_INT, no, 1, no, 1, MPI_COMM_NULL, &request));
    EXPECT(MPI_ERR_COUNT, MPI_Sendrecv_replace_c(&in, -1, MPI_INT, no, 1, no, 1, w, &status));
}

static void probes(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0, n = size_of_world;
    EXPECT(MPI_ERR_RANK, MPI_Probe(n, 1, w, &status));
    EXPECT(MPI_ERR_TAG, MPI_Probe(0, -7, w, &status));
    EXPECT(MPI_ERR_COMM, MPI_Probe(0, 1, MPI_COMM_NULL, &status));
    EXPECT(MPI_ERR_RANK, MPI_Iprobe(-7, 1, w, &flag, &status));
    EXPECT(MPI_ERR_TAG, MPI_Iprobe(0, -7, w, &flag, &status));
    EXPECT(MPI_ERR_COMM, MPI_Iprobe(0, 1, MPI_COMM_NULL, &flag, &status));
    EXPECT(MPI_ERR_ARG, MPI_Iprobe(0, 1, w, NULL, &status));
    EXPECT(MPI_ERR_RANK, MPI_Mprobe(n, 1, w, &message, &status));
    EXPECT(MPI_ERR_TAG, MPI_Mprobe(0, -7, w, &message, &status));
    EXPECT(MPI_ERR_COMM, MPI_Mprobe(0, 1, MPI_COMM_NULL, &message, &status));
    EXPECT(MPI_ERR_RANK, MPI_Improbe(n, 1, w, &flag, &message, &status));
    EXPECT(MPI_ERR_TAG, MPI_Improbe(0, -7, w, &flag, &message, &status));
    EXPECT(MPI_ERR_COMM, MPI_Improbe(0, 1, MPI_COMM_NULL, &flag, &message, &status));
    EXPECT(MPI_ERR_ARG, MPI_Improbe(0, 1, w, NULL, &message, &status));
}

/* The standard has no class for messages; a null one is a wrong request or argument. */
static void matched_receives(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Imrecv(&in, 1, MPI_INT, &message, &request));
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Mrecv(&in, 1, MPI_INT, NULL, &status));
    message = MPI_MESSAGE_NO_PROC;
    EXPECT(MPI_ERR_COUNT, MPI_Mrecv(&in, -1, MPI_INT, &message, &status));
    message = MPI_MESSAGE_NO_PROC;
    EXPECT(MPI_ERR_TYPE, MPI_Mrecv(&in, 1, MPI_DATATYPE_NULL, &message, &status));
    message = MPI_MESSAGE_NO_PROC;
    EXPECT(MPI_ERR_COUNT, MPI_Imrecv(&in, -1, MPI_INT, &message, &request));
    message = MPI_MESSAGE_NO_PROC;
    EXPECT(MPI_ERR_TYPE, MPI_Imrecv(&in, 1, MPI_DATATYPE_NULL, &message, &request));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "pair_arguments");
    sendrecv();
    sendrecv_replace();
    probes();
    matched_receives();
    return expect_finish();
}
