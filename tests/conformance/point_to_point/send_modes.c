/* Every send mode, blocking, nonblocking and persistent, against early and late receives, at sizes around
 * the boundaries where libraries change protocol. */
#include "check.h"

enum { RECEIVE_EARLY, RECEIVE_LATE, RECEIVE_PERSISTENT, RECEIVE_FORMS };
enum { LARGEST = 8 << 20, TAG_READY = 90, TAG_DATA = 91 };

static const size_t sizes[] = {
    0, 1, 7, 8, 39, 40, 41, 63, 64, 65, 255, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 65535, 65536, 65537,
    262143, 262144, 262145, 524287, 524288, 524289, 1048575, 1048576, 1048577, 3000001, LARGEST,
};

typedef int blocking_send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starting_send(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const struct mode {
    const char *name;
    blocking_send *blocking;
    starting_send *nonblocking, *persistent;
    int ready;
} modes[] = {
    { "standard", MPI_Send, MPI_Isend, MPI_Send_init, 0 },
    { "synchronous", MPI_Ssend, MPI_Issend, MPI_Ssend_init, 0 },
    { "buffered", MPI_Bsend, MPI_Ibsend, MPI_Bsend_init, 0 },
    { "ready", MPI_Rsend, MPI_Irsend, MPI_Rsend_init, 1 },
};

static unsigned char *send_buffer, *receive_buffer;

/* Partners tell each other that their receives stand, so that a ready send is right and an early receive
 * is early. */
static void await_receive_stands(void)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, partner(), TAG_READY, NULL, 0, MPI_BYTE, partner(), TAG_READY,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void start_receive(size_t bytes, int persistent, MPI_Request *request)
{
    if (persistent) {
        MPI_Recv_init(receive_buffer, (int)bytes, MPI_BYTE, partner(), TAG_DATA, MPI_COMM_WORLD, request);
        MPI_Start(request);
    } else {
        MPI_Irecv(receive_buffer, (int)bytes, MPI_BYTE, partner(), TAG_DATA, MPI_COMM_WORLD, request);
    }
}

static void check_arrival(MPI_Status *status, size_t bytes, unsigned seed, const char *mode)
{
    CHECK_EQUAL(status->MPI_SOURCE, partner(), "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status->MPI_TAG, TAG_DATA, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(status_count(status, MPI_BYTE), bytes, "MPI-5.0 §3.2.5");
    CHECK(has_pattern(receive_buffer, bytes, seed), "MPI-5.0 §3.4", "%s, %zu bytes", mode, bytes);
    CHECK(receive_buffer[bytes] == 0xA5, "MPI-5.0 §3.2.4: nothing beyond the message is written");
}

/* `form`: 0 blocking, 1 nonblocking, 2 persistent. Returns with the send started, if it can. */
static void start_send(const struct mode *mode, int form, size_t bytes, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (form == 0) {
        mode->blocking(send_buffer, (int)bytes, MPI_BYTE, partner(), TAG_DATA, MPI_COMM_WORLD);
    } else if (form == 1) {
        mode->nonblocking(send_buffer, (int)bytes, MPI_BYTE, partner(), TAG_DATA, MPI_COMM_WORLD, request);
    } else {
        mode->persistent(send_buffer, (int)bytes, MPI_BYTE, partner(), TAG_DATA, MPI_COMM_WORLD, request);
        MPI_Start(request);
    }
}

static void finish(MPI_Request *request, MPI_Status *status, int persistent)
{
    MPI_Wait(request, status);
    if (persistent) {
        CHECK(*request != MPI_REQUEST_NULL, "MPI-5.0 §3.9: a persistent request stays, inactive");
        MPI_Request_free(request);
    }
    CHECK(*request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
}

/* Both partners send and receive at once; a blocking send here always has its receive posted. */
static void exchange(const struct mode *mode, int form, int receive_form, size_t bytes)
{
    unsigned seed = (unsigned)(bytes * 3 + form);
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    MPI_Status status;
    fill_pattern(send_buffer, bytes, seed);
    memset(receive_buffer, 0xA5, bytes + 1);
    if (receive_form == RECEIVE_LATE) {
        start_send(mode, form, bytes, &send);
        MPI_Probe(partner(), TAG_DATA, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §3.8.1");
        start_receive(bytes, 0, &receive);
    } else {
        start_receive(bytes, receive_form == RECEIVE_PERSISTENT, &receive);
        await_receive_stands();
        start_send(mode, form, bytes, &send);
    }
    finish(&receive, &status, receive_form == RECEIVE_PERSISTENT);
    check_arrival(&status, bytes, seed, mode->name);
    finish(&send, MPI_STATUS_IGNORE, form == 2);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "send_modes");
    int attached = 2 * (LARGEST + MPI_BSEND_OVERHEAD);
    void *buffer = need((size_t)attached), *detached;
    MPI_Buffer_attach(buffer, attached);
    send_buffer = need(LARGEST);
    receive_buffer = need(LARGEST + 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            for (int form = 0; form < 3; form++)
                for (int receive_form = 0; receive_form < RECEIVE_FORMS; receive_form++) {
                    /* A late receive needs a send that returns before its receive is posted; ready forbids it. */
                    int returns = form != 0 || modes[m].blocking == MPI_Bsend;
                    if (receive_form == RECEIVE_LATE && (modes[m].ready || !returns))
                        continue;
                    exchange(&modes[m], form, receive_form, sizes[s]);
                }
    MPI_Buffer_detach(&detached, &attached);
    free(buffer);
    free(send_buffer);
    free(receive_buffer);
    return check_finish();
}
