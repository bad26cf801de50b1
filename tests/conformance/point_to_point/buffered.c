/* Buffered sends with the buffer of the process: attach, detach, flush, exhaustion. */
#include "check.h"

enum { BYTES = 3000, MESSAGES = 20 };

static unsigned char out[BYTES], in[BYTES];

static void receive_all(MPI_Comm comm, int messages)
{
    for (int i = 0; i < messages; i++) {
        memset(in, 0, BYTES);
        MPI_Recv(in, BYTES, MPI_BYTE, left_neighbour(), 1, comm, MPI_STATUS_IGNORE);
        CHECK(has_pattern(in, BYTES, (unsigned)i), "MPI-5.0 §3.4");
    }
}

/* Buffered sends complete without their receives: every rank sends all before it receives any. */
static void send_all(MPI_Comm comm, int messages)
{
    for (int i = 0; i < messages; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        fill_pattern(out, BYTES, (unsigned)i);
        if (i % 3 == 0) {
            MPI_Bsend(out, BYTES, MPI_BYTE, right_neighbour(), 1, comm);
        } else if (i % 3 == 1) {
            MPI_Ibsend(out, BYTES, MPI_BYTE, right_neighbour(), 1, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Bsend_init(out, BYTES, MPI_BYTE, right_neighbour(), 1, comm, &request);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
        }
        memset(out, 0xEE, BYTES);
    }
}

static void process_buffer(void)
{
    int size = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), got_size = -1;
    void *buffer = need((size_t)size), *got = NULL;
    MPI_Request flush;
    for (int round = 0; round < 3; round++) {
        CHECK_EQUAL(MPI_Buffer_attach(buffer, size), MPI_SUCCESS, "MPI-5.0 §3.6");
        send_all(MPI_COMM_WORLD, MESSAGES);
        receive_all(MPI_COMM_WORLD, MESSAGES);
        MPI_Buffer_flush();
        send_all(MPI_COMM_WORLD, MESSAGES);
        receive_all(MPI_COMM_WORLD, MESSAGES);
        MPI_Buffer_iflush(&flush);
        MPI_Wait(&flush, MPI_STATUS_IGNORE);
        send_all(MPI_COMM_WORLD, MESSAGES);
        receive_all(MPI_COMM_WORLD, MESSAGES);
        MPI_Buffer_detach(&got, &got_size);
        CHECK(got == buffer && got_size == size, "MPI-5.0 §3.6: detach returns what was attached");
    }
    free(buffer);
}

/* Detach delivers what is still buffered: the buffer may be overwritten right after it. */
static void detach_waits(void)
{
    int size = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), got_size = -1;
    void *buffer = need((size_t)size), *got = NULL;
    MPI_Request requests[MESSAGES];
    unsigned char *landing = need((size_t)MESSAGES * BYTES);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(landing + i * BYTES, BYTES, MPI_BYTE, left_neighbour(), 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Buffer_attach(buffer, size);
    send_all(MPI_COMM_WORLD, MESSAGES);
    MPI_Buffer_detach(&got, &got_size);
    memset(buffer, 0xEE, (size_t)size);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        CHECK(has_pattern(landing + i * BYTES, BYTES, (unsigned)i), "MPI-5.0 §3.6");
    free(landing);
    free(buffer);
}

/* Sent without a buffer, or without room in it: MPI_ERR_BUFFER, and the buffer still works. */
static void exhaustion(void)
{
    int size = BYTES + MPI_BSEND_OVERHEAD, got_size = -1;
    void *buffer = need((size_t)size), *got = NULL;
    static unsigned char large[2 * BYTES];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bsend(out, BYTES, MPI_BYTE, right_neighbour(), 1, MPI_COMM_WORLD), MPI_ERR_BUFFER,
                "MPI-5.0 §3.6: no buffer is attached");
    MPI_Buffer_attach(buffer, size);
    CHECK(MPI_Buffer_attach(buffer, size) != MPI_SUCCESS, "MPI-5.0 §3.6: one buffer at a time");
    CHECK_CLASS(MPI_Bsend(large, 2 * BYTES, MPI_BYTE, right_neighbour(), 1, MPI_COMM_WORLD),
                MPI_ERR_BUFFER, "MPI-5.0 §3.6: insufficient space");
    fill_pattern(out, BYTES, 0);
    CHECK_EQUAL(MPI_Bsend(out, BYTES, MPI_BYTE, right_neighbour(), 1, MPI_COMM_WORLD), MPI_SUCCESS,
                "MPI-5.0 §3.6: a message and its overhead fit");
    receive_all(MPI_COMM_WORLD, 1);
    MPI_Buffer_detach(&got, &got_size);
    CHECK(got == buffer && got_size == size, "MPI-5.0 §3.6");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    free(buffer);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "buffered");
    process_buffer();
    detach_waits();
    exhaustion();
    return check_finish();
}
