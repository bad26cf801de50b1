/* Messages: every way to send with every way to receive, exchanges, receives that are cancelled, wildcards. */
#include "stress.h"
#include <sched.h>

enum { ISEND, ISSEND, IBSEND, SEND_INIT, SSEND_INIT, BSEND_INIT, FREED, READY, SENDS };
enum { IRECV, ANY_SOURCE, RECV_INIT, MPROBE, IMPROBE, PROBE, RECEIVES };

/* The receive's request is the first, the send's the second. A freed send has none. */
static void draw_message(struct operation *op, struct worker *worker)
{
    uint32_t *state = &worker->together;
    op->form = below(state, SENDS);
    op->other_form = below(state, RECEIVES);
    op->comm = below(state, 2) ? shared : worker->own;
    op->shift = below(state, size);
    if (op->form == READY) { /* the receive must stand before: to oneself, posted first */
        op->shift = 0;
        op->other_form %= RECV_INIT + 1;
    }
    op->bytes = draw_bytes(worker, op->form == IBSEND || op->form == BSEND_INIT ? BUFFERED_MAX : LARGEST);
    op->sent = draw_layout(worker, op->bytes);
    op->received = draw_layout(worker, op->bytes);
    if (op->form == FREED)
        op->sent = (struct layout){ 0, op->bytes, op->bytes };
    op->out = take(worker, op->sent.span);
    op->in = take(worker, op->received.span);
}

static int is_persistent_send(const struct operation *op) { return op->form >= SEND_INIT && op->form <= BSEND_INIT; }
static int is_probed(const struct operation *op) { return op->other_form >= MPROBE; }

static void start_receive(struct operation *op, struct worker *worker)
{
    MPI_Request *request = request_of(op, worker);
    MPI_Datatype type;
    int count;
    if (op->other_form == RECV_INIT && worker->round > 0) {
        MPI_Start(request);
        return;
    }
    create_layout(&op->received, &type, &count);
    if (op->other_form == RECV_INIT) {
        MPI_Recv_init(op->in, count, type, down(op), op->tag, op->comm, request);
        MPI_Start(request);
    } else {
        MPI_Irecv(op->in, count, type, op->other_form == ANY_SOURCE ? MPI_ANY_SOURCE : down(op), op->tag, op->comm, request);
    }
    MPI_Type_free(&type);
}

static void start_send(struct operation *op, struct worker *worker)
{
    MPI_Request freed, *request = op->form == FREED ? &freed : request_of(op, worker);
    MPI_Datatype type;
    int count, to = up(op);
    if (is_persistent_send(op) && worker->round > 0) {
        MPI_Startall(1, request);
        return;
    }
    create_layout(&op->sent, &type, &count);
    switch (op->form) {
    case ISEND: MPI_Isend(op->out, count, type, to, op->tag, op->comm, request); break;
    case ISSEND: MPI_Issend(op->out, count, type, to, op->tag, op->comm, request); break;
    case IBSEND: MPI_Ibsend(op->out, count, type, to, op->tag, op->comm, request); break;
    case READY: MPI_Irsend(op->out, count, type, to, op->tag, op->comm, request); break;
    case SEND_INIT: MPI_Send_init(op->out, count, type, to, op->tag, op->comm, request); break;
    case SSEND_INIT: MPI_Ssend_init(op->out, count, type, to, op->tag, op->comm, request); break;
    case BSEND_INIT: MPI_Bsend_init(op->out, count, type, to, op->tag, op->comm, request); break;
    default:
        MPI_Isend(constant, count, type, to, op->tag, op->comm, request);
        MPI_Request_free(request);
    }
    if (is_persistent_send(op))
        MPI_Start(request);
    MPI_Type_free(&type);
}

static void start_message(struct operation *op, struct worker *worker)
{
    blank(&op->received, op->in);
    if (op->form != FREED)
        fill(&op->sent, op->out, seed_of(op, worker, rank));
    if (is_probed(op))
        *request_of(op, worker) = MPI_REQUEST_NULL; /* until the message is found */
    else
        start_receive(op, worker);
    start_send(op, worker);
}

static void find_message(struct operation *op, struct worker *worker)
{
    MPI_Request *request = &worker->requests[op->first];
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Datatype type;
    int flag = 0, count, bytes, from = op->other_form == PROBE ? down(op) : MPI_ANY_SOURCE;
    if (!is_probed(op))
        return;
    if (op->other_form == MPROBE)
        MPI_Mprobe(from, op->tag, op->comm, &message, &status);
    while (op->other_form == IMPROBE && !flag && MPI_Improbe(from, op->tag, op->comm, &flag, &message, &status) == 0)
        sched_yield();
    if (op->other_form == PROBE)
        MPI_Probe(from, op->tag, op->comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if ((size_t)bytes != op->bytes || status.MPI_SOURCE != down(op) || status.MPI_TAG != op->tag)
        fail(worker, op, "probed %d bytes of %d, not %zu of %d", bytes, status.MPI_SOURCE, op->bytes, down(op));
    create_layout(&op->received, &type, &count);
    if (op->other_form == PROBE)
        MPI_Irecv(op->in, count, type, status.MPI_SOURCE, op->tag, op->comm, request);
    else
        MPI_Imrecv(op->in, count, type, &message, request);
    MPI_Type_free(&type);
}

/* What the status of a finished receive says, where the completing call gave one. */
static void check_status(struct operation *op, struct worker *worker, int which, int bytes)
{
    const MPI_Status *status = status_of(op, worker, which);
    int received;
    if (!status)
        return;
    MPI_Get_count(status, MPI_BYTE, &received);
    if (status->MPI_SOURCE != down(op) || status->MPI_TAG != op->tag || received != bytes)
        fail(worker, op, "status of source %d, tag %d, %d bytes; not %d, %d, %d", status->MPI_SOURCE, status->MPI_TAG, received,
             down(op), op->tag, bytes);
}

static void check_message(struct operation *op, struct worker *worker)
{
    uint32_t seed = op->form == FREED ? (uint32_t)down(op) : seed_of(op, worker, down(op));
    check_status(op, worker, 0, (int)op->bytes);
    if (!holds(&op->received, op->in, seed))
        fail(worker, op, "wrong data of rank %d, %zu bytes, layouts %d and %d", down(op), op->bytes, op->sent.form,
             op->received.form);
}

const struct kind message_kind = { "message", draw_message, start_message, find_message, check_message, free_requests };

/* MPI_Isendrecv, and with another form MPI_Isendrecv_replace. */
static void draw_exchange(struct operation *op, struct worker *worker)
{
    op->form = below(&worker->together, 2);
    op->comm = below(&worker->together, 2) ? shared : worker->own;
    op->shift = below(&worker->together, size);
    op->bytes = draw_bytes(worker, LARGEST);
    op->received = op->sent = draw_layout(worker, op->bytes);
    if (op->form == 0)
        op->sent = draw_layout(worker, op->bytes);
    op->in = take(worker, op->received.span);
    op->out = take(worker, op->sent.span);
}

static void start_exchange(struct operation *op, struct worker *worker)
{
    MPI_Request *request = request_of(op, worker);
    MPI_Datatype in, out;
    int in_count, out_count;
    create_layout(&op->received, &in, &in_count);
    create_layout(&op->sent, &out, &out_count);
    if (op->form == 0) {
        blank(&op->received, op->in);
        fill(&op->sent, op->out, seed_of(op, worker, rank));
        MPI_Isendrecv(op->out, out_count, out, up(op), op->tag, op->in, in_count, in, down(op), op->tag, op->comm, request);
    } else {
        fill(&op->received, op->in, seed_of(op, worker, rank));
        MPI_Isendrecv_replace(op->in, in_count, in, up(op), op->tag, down(op), op->tag, op->comm, request);
    }
    MPI_Type_free(&in);
    MPI_Type_free(&out);
}

static void check_exchange(struct operation *op, struct worker *worker)
{
    check_status(op, worker, 0, (int)op->bytes);
    if (!holds(&op->received, op->in, seed_of(op, worker, down(op))))
        fail(worker, op, "wrong data of rank %d, %zu bytes", down(op), op->bytes);
}

const struct kind exchange_kind = { "exchange", draw_exchange, start_exchange, NULL, check_exchange, NULL };

/* A receive that nothing is sent to: cancelled and completed, cancelled and freed, persistent. */
static void draw_cancelled(struct operation *op, struct worker *worker)
{
    op->form = below(&worker->together, 3);
    op->comm = below(&worker->together, 2) ? shared : worker->own;
    op->in = take(worker, 64);
}

static void start_cancelled(struct operation *op, struct worker *worker)
{
    MPI_Request freed, *request = op->form == 1 ? &freed : request_of(op, worker);
    int from = worker->round % 2 ? MPI_ANY_SOURCE : op->root;
    if (op->form == 2 && worker->round == 0)
        MPI_Recv_init(op->in, 64, MPI_BYTE, from, op->tag, op->comm, request);
    if (op->form == 2)
        MPI_Start(request);
    else
        MPI_Irecv(op->in, 64, MPI_BYTE, from, op->tag, op->comm, request);
    MPI_Cancel(request);
    if (op->form == 1)
        MPI_Request_free(request);
}

static void check_cancelled(struct operation *op, struct worker *worker)
{
    const MPI_Status *status = op->form == 1 ? NULL : status_of(op, worker, 0);
    int cancelled = 1;
    if (status)
        MPI_Test_cancelled(status, &cancelled);
    if (!cancelled)
        fail(worker, op, "not cancelled");
}

const struct kind cancelled_kind = { "cancelled", draw_cancelled, start_cancelled, NULL, check_cancelled, free_requests };

/* Both wildcards: a rank that is ahead may be heard too early, so each message tells what it is. */
struct letter {
    int source, tag, bytes;
    uint32_t seed;
};

static void draw_wild(struct operation *op, struct worker *worker)
{
    op->shift = below(&worker->together, size);
    op->bytes = draw_bytes(worker, BUFFERED_MAX);
    op->in = take(worker, sizeof(struct letter) + BUFFERED_MAX);
    op->out = take(worker, sizeof(struct letter) + BUFFERED_MAX);
}

static void start_wild(struct operation *op, struct worker *worker)
{
    struct letter head = { rank, op->tag + worker->round, (int)op->bytes, seed_of(op, worker, rank) };
    struct layout body = { 0, op->bytes, op->bytes };
    int bytes = (int)(sizeof head + op->bytes);
    memcpy(op->out, &head, sizeof head);
    fill(&body, op->out + sizeof head, head.seed);
    MPI_Irecv(op->in, sizeof head + BUFFERED_MAX, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, worker->wild, request_of(op, worker));
    MPI_Isend(op->out, bytes, MPI_BYTE, up(op), head.tag, worker->wild, request_of(op, worker));
}

static void check_wild(struct operation *op, struct worker *worker)
{
    const MPI_Status *status = status_of(op, worker, 0);
    struct letter head;
    memcpy(&head, op->in, sizeof head);
    struct layout body = { 0, (size_t)head.bytes, (size_t)head.bytes };
    int bytes = head.bytes + (int)sizeof head;
    if (status)
        MPI_Get_count(status, MPI_BYTE, &bytes);
    if (head.bytes < 0 || head.bytes > BUFFERED_MAX || !holds(&body, op->in + sizeof head, head.seed))
        fail(worker, op, "a letter of %d bytes, source %d, tag %d has the wrong data", head.bytes, head.source, head.tag);
    if (status && (status->MPI_SOURCE != head.source || status->MPI_TAG != head.tag || bytes != head.bytes + (int)sizeof head))
        fail(worker, op, "a letter of source %d, tag %d, %d bytes has the status %d, %d, %d", head.source, head.tag, head.bytes,
             status->MPI_SOURCE, status->MPI_TAG, bytes);
}

const struct kind wild_kind = { "wild", draw_wild, start_wild, NULL, check_wild, NULL };
