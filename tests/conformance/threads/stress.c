/* All kinds of requests mixed, on one communicator, one for each thread, and one without wildcards: every thread has a
 * window of sends of each mode, receives of each form, persistent ones, probes, cancels and frees under way, drawn by a
 * seed, and checks all data. */
#include "team.h"

enum { ROUNDS = 120, SLOTS = 12, LARGEST = 20000 };

/* Partner threads draw the same sequence, so each knows what the other sends. */
struct slot {
    unsigned char out[LARGEST], in[LARGEST];
    MPI_Request send, receive;
    int bytes, send_kind, receive_kind, tag;
};

static enum { TOGETHER, SEPARATE, NO_ANY_TAG, NO_WILDCARD, MODES } mode;
static MPI_Comm spread_comm;

static void draw_slot(struct slot *slot, uint32_t *state, int thread, int k)
{
    static const int sizes[] = { 0, 1, 8, 40, 500, 4096, 9000, LARGEST };
    slot->bytes = sizes[draw(state, 8)];
    slot->send_kind = draw(state, 5);
    slot->receive_kind = draw(state, 4);
    slot->tag = thread * SLOTS + k;
    slot->send = slot->receive = MPI_REQUEST_NULL;
}

static void start_send(struct slot *slot, MPI_Comm comm)
{
    switch (slot->send_kind) {
    case 0:
        MPI_Isend(slot->out, slot->bytes, MPI_BYTE, partner(), slot->tag, comm, &slot->send);
        break;
    case 1:
        MPI_Issend(slot->out, slot->bytes, MPI_BYTE, partner(), slot->tag, comm, &slot->send);
        break;
    case 2:
        MPI_Ibsend(slot->out, slot->bytes, MPI_BYTE, partner(), slot->tag, comm, &slot->send);
        break;
    case 3:
        MPI_Send_init(slot->out, slot->bytes, MPI_BYTE, partner(), slot->tag, comm, &slot->send);
        MPI_Start(&slot->send);
        break;
    default:
        MPI_Ssend_init(slot->out, slot->bytes, MPI_BYTE, partner(), slot->tag, comm, &slot->send);
        MPI_Startall(1, &slot->send);
    }
}

/* Some receives stand before the sends, others wait for a probe; one in eight is first cancelled. */
static void start_receive(struct slot *slot, MPI_Comm comm, int cancel_first)
{
    if (cancel_first) {
        MPI_Status status;
        int cancelled = -1;
        MPI_Irecv(slot->in, LARGEST, MPI_BYTE, partner(), 1 << 20 | slot->tag, comm, &slot->receive);
        MPI_Cancel(&slot->receive);
        MPI_Wait(&slot->receive, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled == 1, "MPI-5.0 §3.8.4");
    }
    if (slot->receive_kind < 2) {
        MPI_Irecv(slot->in, slot->bytes, MPI_BYTE, slot->receive_kind && mode != NO_WILDCARD ? MPI_ANY_SOURCE : partner(),
                  slot->tag, comm, &slot->receive);
    } else if (slot->receive_kind == 2) {
        MPI_Recv_init(slot->in, LARGEST, MPI_BYTE, partner(), slot->tag, comm, &slot->receive);
        MPI_Start(&slot->receive);
    }
}

static void receive_by_probe(struct slot *slot, MPI_Comm comm)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(partner(), slot->tag, comm, &message, &status);
    CHECK_EQUAL(status_count(&status, MPI_BYTE), slot->bytes, "MPI-5.0 §3.8.2");
    MPI_Imrecv(slot->in, slot->bytes, MPI_BYTE, &message, &slot->receive);
}

static int is_persistent_send(const struct slot *slot) { return slot->send_kind >= 3; }

/* Completes by index in the order of completion; persistent requests stay and are freed afterwards. */
static void finish(struct slot *slots)
{
    MPI_Request requests[2 * SLOTS];
    int indices[2 * SLOTS], done = 0;
    for (int k = 0; k < SLOTS; k++) {
        requests[k] = slots[k].receive;
        requests[SLOTS + k] = slots[k].send;
    }
    while (done != MPI_UNDEFINED)
        MPI_Waitsome(2 * SLOTS, requests, &done, indices, MPI_STATUSES_IGNORE);
    for (int k = 0; k < SLOTS; k++) {
        if (slots[k].receive_kind == 2)
            MPI_Request_free(&requests[k]);
        if (is_persistent_send(&slots[k]))
            MPI_Request_free(&requests[SLOTS + k]);
        CHECK(requests[k] == MPI_REQUEST_NULL && requests[SLOTS + k] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.5");
    }
}

static void mixed(int thread)
{
    MPI_Comm comm = mode == TOGETHER ? MPI_COMM_WORLD : mode == SEPARATE ? thread_comms[thread] : spread_comm;
    struct slot *slots = need(SLOTS * sizeof *slots);
    uint32_t state = 77u + (uint32_t)thread;
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < SLOTS; k++) {
            draw_slot(&slots[k], &state, thread, k);
            fill_pattern(slots[k].out, (size_t)slots[k].bytes, (unsigned)(round * SLOTS + k));
            if (slots[k].bytes)
                slots[k].in[0] = slots[k].in[slots[k].bytes - 1] = 0x3C;
        }
        for (int k = 0; k < SLOTS; k++)
            start_receive(&slots[k], comm, draw(&state, 8) == 0);
        for (int k = 0; k < SLOTS; k++)
            start_send(&slots[(k * 5 + round) % SLOTS], comm);
        for (int k = 0; k < SLOTS; k++)
            if (slots[k].receive_kind == 3)
                receive_by_probe(&slots[k], comm);
        finish(slots);
        for (int k = 0; k < SLOTS; k++)
            CHECK(has_pattern(slots[k].in, (size_t)slots[k].bytes, (unsigned)(round * SLOTS + k)),
                  "MPI-5.0 §11.6", "thread %d round %d slot %d: %d bytes, send %d, receive %d", thread,
                  round, k, slots[k].bytes, slots[k].send_kind, slots[k].receive_kind);
    }
    free(slots);
}

/* Without MPI_ANY_TAG, or without MPI_ANY_SOURCE too: MPI-5.0 §7.4.4. */
static MPI_Comm without_wildcards(int both)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", both ? "true" : "false");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "stress");
    int size = THREADS * SLOTS * 2 * (LARGEST + MPI_BSEND_OVERHEAD);
    void *buffer = need((size_t)size), *detached;
    MPI_Buffer_attach(buffer, size);
    create_thread_comms();
    for (mode = TOGETHER; mode < MODES; mode++) {
        if (mode >= NO_ANY_TAG)
            spread_comm = without_wildcards(mode == NO_WILDCARD);
        run_team(mixed);
        MPI_Barrier(MPI_COMM_WORLD);
        if (mode >= NO_ANY_TAG)
            MPI_Comm_free(&spread_comm);
    }
    free_thread_comms();
    MPI_Buffer_detach(&detached, &size);
    free(buffer);
    return check_finish();
}
