/* Wrong arguments of every send and receive start, blocking, nonblocking and persistent: MPI-5.0 §3.2 to
 * §3.9, classes §9.4.
 *
 * MPICH 5.0.2 fails: its receives take the tag -1 for MPI_ANY_TAG, which is -2 in the standard ABI.
 * ranks: 1,2 */
#include "expect.h"

/* For receives that a library may take for a wildcard's: blocking ones would wait for ever. */
enum { STARTED_ONLY = 2 };

static int value = 5;
static MPI_Datatype uncommitted;

/* One row a wrong argument. Rows for sends only or receives only say so. */
struct row {
    const char *what;
    void *buffer;
    int count;
    MPI_Datatype type;
    int rank, tag;
    MPI_Comm comm;
    int class;
    int sends, receives;
};

static int fill_rows(struct row *rows)
{
    MPI_Comm w = MPI_COMM_WORLD;
    const struct row all[] = {
        { "count -1", &value, -1, MPI_INT, 0, 1, w, MPI_ERR_COUNT, 1, 1 },
        { "null type", &value, 1, MPI_DATATYPE_NULL, 0, 1, w, MPI_ERR_TYPE, 1, 1 },
        { "uncommitted type", &value, 1, uncommitted, 0, 1, w, MPI_ERR_TYPE, 1, 1 },
        { "zero type", &value, 1, (MPI_Datatype)0, 0, 1, w, MPI_ERR_TYPE, 1, 1 },
        { "op as type", &value, 1, (MPI_Datatype)MPI_SUM, 0, 1, w, MPI_ERR_TYPE, 1, 1 },
        { "unused type value", &value, 1, (MPI_Datatype)0x23f, 0, 1, w, MPI_ERR_TYPE, 1, 1 },
        { "rank too large", &value, 1, MPI_INT, size_of_world, 1, w, MPI_ERR_RANK, 1, 1 },
        { "rank very large", &value, 1, MPI_INT, 2147483647, 1, w, MPI_ERR_RANK, 1, 1 },
        { "rank -100", &value, 1, MPI_INT, -100, 1, w, MPI_ERR_RANK, 1, 1 },
        { "rank MPI_ROOT", &value, 1, MPI_INT, MPI_ROOT, 1, w, MPI_ERR_RANK, 1, 1 },
        { "send to any", &value, 1, MPI_INT, MPI_ANY_SOURCE, 1, w, MPI_ERR_RANK, 1, 0 },
        { "tag -1", &value, 1, MPI_INT, 0, -1, w, MPI_ERR_TAG, 1, STARTED_ONLY },
        { "tag -100", &value, 1, MPI_INT, 0, -100, w, MPI_ERR_TAG, 1, 1 },
        { "send any tag", &value, 1, MPI_INT, 0, MPI_ANY_TAG, w, MPI_ERR_TAG, 1, 0 },
        { "null comm", &value, 1, MPI_INT, 0, 1, MPI_COMM_NULL, MPI_ERR_COMM, 1, 1 },
        { "zero comm", &value, 1, MPI_INT, 0, 1, (MPI_Comm)0, MPI_ERR_COMM, 1, 1 },
        { "unused comm value", &value, 1, MPI_INT, 0, 1, (MPI_Comm)0x103, MPI_ERR_COMM, 1, 1 },
        { "type as comm", &value, 1, MPI_INT, 0, 1, (MPI_Comm)MPI_INT, MPI_ERR_COMM, 1, 1 },
        { "null buffer", NULL, 1, MPI_INT, 0, 1, w, MPI_ERR_BUFFER, 1, 1 },
        { "null process, count -1", &value, -1, MPI_INT, MPI_PROC_NULL, 1, w, MPI_ERR_COUNT, 1, 1 },
        { "null process, tag -1", &value, 1, MPI_INT, MPI_PROC_NULL, -1, w, MPI_ERR_TAG, 1, 1 },
        { "null process, null type", &value, 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, w, MPI_ERR_TYPE, 1, 1 },
    };
    memcpy(rows, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

typedef int blocking_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starting_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int big_blocking_call(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int big_starting_call(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Receives in the form of sends, so that one table serves both. */
static int recv_as_send(const void *b, int c, MPI_Datatype t, int r, int g, MPI_Comm m)
{
    return MPI_Recv((void *)b, c, t, r, g, m, MPI_STATUS_IGNORE);
}
static int irecv_as_send(const void *b, int c, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Request *q)
{
    return MPI_Irecv((void *)b, c, t, r, g, m, q);
}
static int recv_init_as_send(const void *b, int c, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Request *q)
{
    return MPI_Recv_init((void *)b, c, t, r, g, m, q);
}
static int big_recv_as_send(const void *b, MPI_Count c, MPI_Datatype t, int r, int g, MPI_Comm m)
{
    return MPI_Recv_c((void *)b, c, t, r, g, m, MPI_STATUS_IGNORE);
}
static int big_irecv_as_send(const void *b, MPI_Count c, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Request *q)
{
    return MPI_Irecv_c((void *)b, c, t, r, g, m, q);
}
static int big_recv_init_as_send(const void *b, MPI_Count c, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Request *q)
{
    return MPI_Recv_init_c((void *)b, c, t, r, g, m, q);
}

static const struct {
    const char *name;
    blocking_call *blocking;
    starting_call *starting;
    big_blocking_call *big_blocking;
    big_starting_call *big_starting;
    int receives;
} calls[] = {
    { "MPI_Send", MPI_Send, NULL, MPI_Send_c, NULL, 0 },
    { "MPI_Ssend", MPI_Ssend, NULL, MPI_Ssend_c, NULL, 0 },
    { "MPI_Bsend", MPI_Bsend, NULL, MPI_Bsend_c, NULL, 0 },
    { "MPI_Rsend", MPI_Rsend, NULL, MPI_Rsend_c, NULL, 0 },
    { "MPI_Isend", NULL, MPI_Isend, NULL, MPI_Isend_c, 0 },
    { "MPI_Issend", NULL, MPI_Issend, NULL, MPI_Issend_c, 0 },
    { "MPI_Ibsend", NULL, MPI_Ibsend, NULL, MPI_Ibsend_c, 0 },
    { "MPI_Irsend", NULL, MPI_Irsend, NULL, MPI_Irsend_c, 0 },
    { "MPI_Send_init", NULL, MPI_Send_init, NULL, MPI_Send_init_c, 0 },
    { "MPI_Ssend_init", NULL, MPI_Ssend_init, NULL, MPI_Ssend_init_c, 0 },
    { "MPI_Bsend_init", NULL, MPI_Bsend_init, NULL, MPI_Bsend_init_c, 0 },
    { "MPI_Rsend_init", NULL, MPI_Rsend_init, NULL, MPI_Rsend_init_c, 0 },
    { "MPI_Recv", recv_as_send, NULL, big_recv_as_send, NULL, 1 },
    { "MPI_Irecv", NULL, irecv_as_send, NULL, big_irecv_as_send, 1 },
    { "MPI_Recv_init", NULL, recv_init_as_send, NULL, big_recv_init_as_send, 1 },
};

static void try_row(int call, const struct row *r)
{
    MPI_Request request = MPI_REQUEST_NULL;
    char detail[80];
    int got;
    snprintf(detail, sizeof detail, ": %s", r->what);
    if (calls[call].blocking)
        got = RESULT_OF(calls[call].blocking(r->buffer, r->count, r->type, r->rank, r->tag, r->comm));
    else
        got = RESULT_OF(
            calls[call].starting(r->buffer, r->count, r->type, r->rank, r->tag, r->comm, &request));
    expect_class(__FILE__, __LINE__, calls[call].name, detail, got, r->class, r->class);
    snprintf(detail, sizeof detail, "_c: %s", r->what);
    if (calls[call].big_blocking)
        got = RESULT_OF(calls[call].big_blocking(r->buffer, r->count, r->type, r->rank, r->tag, r->comm));
    else
        got = RESULT_OF(
            calls[call].big_starting(r->buffer, r->count, r->type, r->rank, r->tag, r->comm, &request));
    expect_class(__FILE__, __LINE__, calls[call].name, detail, got, r->class, r->class);
}

static void without_request(int call)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int no = MPI_PROC_NULL;
    expect_class(__FILE__, __LINE__, calls[call].name, ": null request pointer",
                 RESULT_OF(calls[call].starting(&value, 1, MPI_INT, no, 1, w, NULL)), MPI_ERR_ARG, MPI_ERR_REQUEST);
    expect_class(__FILE__, __LINE__, calls[call].name, "_c: null request pointer",
                 RESULT_OF(calls[call].big_starting(&value, 1, MPI_INT, no, 1, w, NULL)), MPI_ERR_ARG, MPI_ERR_REQUEST);
}

/* Where the largest tag is not the largest int. */
static void tag_beyond_bound(void)
{
    int *upper = NULL, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    if (flag && *upper < 2147483647) {
        EXPECT(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, *upper + 1, MPI_COMM_WORLD));
        EXPECT(MPI_ERR_TAG,
               MPI_Recv(&value, 1, MPI_INT, 0, *upper + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    static struct row rows[64];
    static char buffer[8192];
    void *detached;
    int size;
    expect_start(&argc, &argv, "send_arguments");
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    int count = fill_rows(rows);
    for (size_t call = 0; call < sizeof calls / sizeof *calls; call++)
        for (int r = 0; r < count; r++)
            if (calls[call].receives ? rows[r].receives & (calls[call].blocking ? 1 : 3) : rows[r].sends)
                try_row((int)call, &rows[r]);
    for (size_t call = 0; call < sizeof calls / sizeof *calls; call++)
        if (calls[call].starting)
            without_request((int)call);
    tag_beyond_bound();
    MPI_Type_free(&uncommitted);
    MPI_Buffer_detach(&detached, &size);
    return expect_finish();
}
