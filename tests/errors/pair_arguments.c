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
#define TRY_ROW(name, last) \
    expect_class(__FILE__, __LINE__, #name, detail, \
                 RESULT_OF(name(&out, rows[i].send_count, rows[i].send_type, rows[i].dest, rows[i].send_tag, &in, \
                                rows[i].receive_count, rows[i].receive_type, rows[i].source, rows[i].receive_tag, \
                                rows[i].comm, last)), \
                 rows[i].class, rows[i].class)
        TRY_ROW(MPI_Sendrecv, &status);
        TRY_ROW(MPI_Sendrecv_c, &status);
        TRY_ROW(MPI_Isendrecv, &request);
        TRY_ROW(MPI_Isendrecv_c, &request);
    }
}

static void sendrecv_replace(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int no = MPI_PROC_NULL;
    EXPECT_COUNTS(MPI_ERR_COUNT, Sendrecv_replace, &in, -1, MPI_INT, no, 1, no, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_TYPE, Sendrecv_replace, &in, 1, MPI_DATATYPE_NULL, no, 1, no, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Sendrecv_replace, NULL, 1, MPI_INT, no, 1, no, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_RANK, Sendrecv_replace, &in, 1, MPI_INT, -70, 1, no, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_RANK, Sendrecv_replace, &in, 1, MPI_INT, no, 1, size_of_world, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_TAG, Sendrecv_replace, &in, 1, MPI_INT, no, -5, no, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_TAG, Sendrecv_replace, &in, 1, MPI_INT, no, 1, no, -5, w, &status);
    EXPECT_COUNTS(MPI_ERR_COMM, Sendrecv_replace, &in, 1, MPI_INT, no, 1, no, 1, MPI_COMM_NULL, &status);
    EXPECT_COUNTS(MPI_ERR_COUNT, Isendrecv_replace, &in, -1, MPI_INT, no, 1, no, 1, w, &request);
    EXPECT_COUNTS(MPI_ERR_TYPE, Isendrecv_replace, &in, 1, MPI_DATATYPE_NULL, no, 1, no, 1, w, &request);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Isendrecv_replace, NULL, 1, MPI_INT, no, 1, no, 1, w, &request);
    EXPECT_COUNTS(MPI_ERR_RANK, Isendrecv_replace, &in, 1, MPI_INT, -70, 1, no, 1, w, &request);
    EXPECT_COUNTS(MPI_ERR_TAG, Isendrecv_replace, &in, 1, MPI_INT, no, 1, no, -5, w, &request);
    EXPECT_COUNTS(MPI_ERR_COMM, Isendrecv_replace, &in, 1, MPI_INT, no, 1, no, 1, MPI_COMM_NULL, &request);
    EXPECT_COUNTS(MPI_ERR_ARG, Isendrecv_replace, &in, 1, MPI_INT, no, 1, no, 1, w, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Isendrecv, &out, 1, MPI_INT, no, 1, &in, 1, MPI_INT, no, 1, w, NULL);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Sendrecv, NULL, 1, MPI_INT, no, 1, &in, 1, MPI_INT, no, 1, w, &status);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Sendrecv, &out, 1, MPI_INT, no, 1, NULL, 1, MPI_INT, no, 1, w, &status);
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
    EXPECT(MPI_ERR_ARG, MPI_Improbe(0, 1, w, &flag, NULL, &status));
    EXPECT(MPI_ERR_ARG, MPI_Mprobe(0, 1, w, NULL, &status));
}

/* The standard has no class for messages; a null one is a wrong request or argument. */
static void matched_receives(void)
{
    MPI_Message nothing = MPI_MESSAGE_NULL, *null = &nothing, *pointer = NULL;
    EXPECT_COUNTS_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, Mrecv, &in, 1, MPI_INT, null, &status);
    EXPECT_COUNTS_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, Imrecv, &in, 1, MPI_INT, null, &request);
    EXPECT_COUNTS_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, Mrecv, &in, 1, MPI_INT, pointer, &status);
    EXPECT_COUNTS_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, Imrecv, &in, 1, MPI_INT, pointer, &request);
/* A message of its own for each call. */
#define NO_PROC (&(MPI_Message){ MPI_MESSAGE_NO_PROC })
    EXPECT_COUNTS(MPI_ERR_COUNT, Mrecv, &in, -1, MPI_INT, NO_PROC, &status);
    EXPECT_COUNTS(MPI_ERR_TYPE, Mrecv, &in, 1, MPI_DATATYPE_NULL, NO_PROC, &status);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Mrecv, NULL, 1, MPI_INT, NO_PROC, &status);
    EXPECT_COUNTS(MPI_ERR_COUNT, Imrecv, &in, -1, MPI_INT, NO_PROC, &request);
    EXPECT_COUNTS(MPI_ERR_TYPE, Imrecv, &in, 1, MPI_DATATYPE_NULL, NO_PROC, &request);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Imrecv, NULL, 1, MPI_INT, NO_PROC, &request);
    EXPECT_COUNTS(MPI_ERR_ARG, Imrecv, &in, 1, MPI_INT, NO_PROC, NULL);
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
