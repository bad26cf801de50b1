/* Buffered sends with the buffer of a communicator, and with automatic buffers: MPI-5.0 §3.6. */
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

/* A communicator's own buffer serves it alone, beside the process's. */
static void communicator_buffer(void)
{
    int size = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), got_size = -1;
    void *buffer = need((size_t)size), *got = NULL;
    MPI_Comm comm;
    MPI_Request flush;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_EQUAL(MPI_Comm_attach_buffer(comm, buffer, size), MPI_SUCCESS, "MPI-5.0 §3.6");
    send_all(comm, MESSAGES);
    receive_all(comm, MESSAGES);
    MPI_Comm_flush_buffer(comm);
    send_all(comm, MESSAGES);
    receive_all(comm, MESSAGES);
    MPI_Comm_iflush_buffer(comm, &flush);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(comm, &got, &got_size);
    CHECK(got == buffer && got_size == size, "MPI-5.0 §3.6");
    MPI_Comm_free(&comm);
    free(buffer);
}

static void automatic_buffer(void)
{
    void *got = NULL;
    int got_size = -1;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_EQUAL(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS, "MPI-5.0 §3.6");
    send_all(comm, MESSAGES);
    receive_all(comm, MESSAGES);
    MPI_Comm_detach_buffer(comm, &got, &got_size);
    CHECK(got == MPI_BUFFER_AUTOMATIC && got_size == 0, "MPI-5.0 §3.6");
    MPI_Comm_free(&comm);
}

/* A communicator without a buffer of its own uses the process's. */
static void beside_the_process(void)
{
    int size = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), got_size = -1;
    void *own = need((size_t)size), *shared = need((size_t)size), *got = NULL;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Buffer_attach(shared, size);
    MPI_Comm_attach_buffer(comm, own, size);
    send_all(comm, MESSAGES);
    send_all(MPI_COMM_WORLD, MESSAGES);
    receive_all(MPI_COMM_WORLD, MESSAGES);
    receive_all(comm, MESSAGES);
    MPI_Comm_detach_buffer(comm, &got, &got_size);
    CHECK(got == own && got_size == size, "MPI-5.0 §3.6");
    send_all(comm, MESSAGES);
    receive_all(comm, MESSAGES);
    MPI_Buffer_detach(&got, &got_size);
    CHECK(got == shared && got_size == size, "MPI-5.0 §3.6");
    MPI_Comm_free(&comm);
    free(own);
    free(shared);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "buffered_by_communicator");
    communicator_buffer();
    automatic_buffer();
    beside_the_process();
    return check_finish();
}
