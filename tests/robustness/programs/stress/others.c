/* Partitioned messages, generalized requests, and accesses to windows with a request. */
#include "stress.h"
#include <pthread.h>
#include <sched.h>

enum { PARTITIONS_MAX = 8 };

/* The receive's request is the first, the send's the second; both sides' partitions differ in number. */
static void draw_partitioned(struct operation *op, struct worker *worker)
{
    op->comm = below(&worker->together, 2) ? shared : worker->own;
    op->shift = below(&worker->together, size);
    op->partitions = 1 << below(&worker->together, 4);
    op->form = 1 << below(&worker->together, 4);
    op->count = (int)draw_bytes(worker, LARGEST) / PARTITIONS_MAX;
    op->bytes = (size_t)op->count * PARTITIONS_MAX;
    op->out = take(worker, op->bytes);
    op->in = take(worker, op->bytes);
}

static void start_partitioned(struct operation *op, struct worker *worker)
{
    MPI_Request *receive = request_of(op, worker), *send = request_of(op, worker);
    if (worker->round == 0) {
        MPI_Precv_init(op->in, op->form, (MPI_Count)op->bytes / op->form, MPI_BYTE, down(op), op->tag, op->comm, MPI_INFO_NULL,
                       receive);
        MPI_Psend_init(op->out, op->partitions, (MPI_Count)op->bytes / op->partitions, MPI_BYTE, up(op), op->tag, op->comm,
                       MPI_INFO_NULL, send);
    }
    memset(op->in, 0, op->bytes);
    memset(op->out, 0, op->bytes);
    MPI_Startall(2, receive);
}

/* Marks the partitions in some order, each filled only then; some receivers look for single ones. */
static void mark_partitions(struct operation *op, struct worker *worker)
{
    struct layout whole = { 0, op->bytes, op->bytes };
    MPI_Request *receive = &worker->requests[op->first], *send = receive + 1;
    int first = below(&worker->alone, op->partitions), way = below(&worker->alone, 3), arrived = 0;
    fill(&whole, op->out, seed_of(op, worker, rank));
    if (way == 0) {
        MPI_Pready_range(0, op->partitions - 1, *send);
    } else if (way == 1) {
        int list[PARTITIONS_MAX];
        for (int i = 0; i < op->partitions; i++)
            list[i] = (first + i) % op->partitions;
        MPI_Pready_list(op->partitions, list, *send);
    } else {
        for (int i = 0; i < op->partitions; i++)
            MPI_Pready((first + i) % op->partitions, *send);
    }
    if (below(&worker->alone, 2))
        return;
    int looked_for = below(&worker->alone, op->form);
    while (MPI_Parrived(*receive, looked_for, &arrived) == 0 && !arrived)
        sched_yield();
    size_t length = op->bytes / (size_t)op->form, at = length * (size_t)looked_for;
    for (size_t i = at; i < at + length; i++)
        if (op->in[i] != pattern(i, seed_of(op, worker, down(op))))
            fail(worker, op, "partition %d has arrived without its data", looked_for);
}

static void check_partitioned(struct operation *op, struct worker *worker)
{
    struct layout whole = { 0, op->bytes, op->bytes };
    if (!holds(&whole, op->in, seed_of(op, worker, down(op))))
        fail(worker, op, "wrong data in %d partitions, sent in %d of %d bytes in all", op->form, op->partitions, (int)op->bytes);
}

const struct kind partitioned_kind = {
    "partitioned", draw_partitioned, start_partitioned, mark_partitions, check_partitioned, free_requests
};

/* Generalized requests are completed by a thread that does nothing else, so that it waits for nobody. */
enum { QUEUE = 4 * THREADS * OPERATIONS };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static MPI_Request queue[QUEUE];
static unsigned queued, taken, stopping; /* under the lock */
static pthread_t completer;

static void *complete_all(void *unused)
{
    pthread_mutex_lock(&lock);
    while (taken != queued || !stopping) {
        if (taken == queued) {
            pthread_cond_wait(&filled, &lock);
            continue;
        }
        MPI_Request request = queue[taken++ % QUEUE];
        pthread_mutex_unlock(&lock);
        MPI_Grequest_complete(request);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

void start_completer(void)
{
    stopping = 0;
    pthread_create(&completer, NULL, complete_all, NULL);
}

void stop_completer(void)
{
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    pthread_join(completer, NULL);
}

/* What the library may ask about a request, by `extra_state`; counted to see that each is freed once. */
static int tell(void *state, MPI_Status *status)
{
    struct operation *op = state;
    MPI_Status_set_elements(status, MPI_BYTE, op->number);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = rank;
    status->MPI_TAG = op->tag;
    return MPI_SUCCESS;
}

static int forget(void *state)
{
    ((struct operation *)state)->count--;
    return MPI_SUCCESS;
}

static int ignore_cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void draw_generalized(struct operation *op, struct worker *worker) { (void)op, (void)worker; }

static void start_generalized(struct operation *op, struct worker *worker)
{
    MPI_Request *request = request_of(op, worker);
    op->count = 1;
    op->shift = 0;
    MPI_Grequest_start(tell, forget, ignore_cancel, op, request);
    pthread_mutex_lock(&lock);
    queue[queued++ % QUEUE] = *request;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static void check_generalized(struct operation *op, struct worker *worker)
{
    const MPI_Status *status = status_of(op, worker, 0);
    int bytes = op->number;
    if (status)
        MPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes != op->number || op->count != 0 || (status && (status->MPI_TAG != op->tag || status->MPI_SOURCE != rank)))
        fail(worker, op, "%d bytes by its status, freed %d times", bytes, 1 - op->count);
}

const struct kind generalized_kind = { "generalized", draw_generalized, start_generalized, NULL, check_generalized, NULL };

/* A window holds, for each origin and operation, a slot that nobody else touches, and behind them a counter. */
enum { RPUT, RGET, RACCUMULATE, RGET_ACCUMULATE, ACCESSES };

static MPI_Aint slot_of(int origin, int number) { return (MPI_Aint)(origin * OPERATIONS + number) * SLOT_BYTES; }

void create_windows(struct worker *worker)
{
    MPI_Aint bytes = slot_of(size, 0) + (MPI_Aint)sizeof(int64_t);
    unsigned char *made;
    worker->window_memory = calloc(1, (size_t)bytes);
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, worker->own, &made, &worker->windows[0]);
    memset(made, 0, (size_t)bytes);
    MPI_Win_create(worker->window_memory, bytes, 1, MPI_INFO_NULL, worker->own, &worker->windows[1]);
    for (int w = 0; w < 2; w++)
        MPI_Win_lock_all(0, worker->windows[w]);
    MPI_Barrier(worker->own);
}

void free_windows(struct worker *worker)
{
    for (int w = 0; w < 2; w++) {
        MPI_Win_unlock_all(worker->windows[w]);
        MPI_Win_free(&worker->windows[w]);
    }
    free(worker->window_memory);
}

/* Between two batches, when the whole team has met: every addition to my counter has been made. */
void check_counters(struct worker *worker)
{
    int64_t unused = 0, sum = 0, part;
    if (!uses_windows)
        return;
    for (int w = 0; w < 2; w++)
        MPI_Win_flush_all(worker->windows[w]);
    MPI_Barrier(worker->own);
    for (int w = 0; w < 2; w++) {
        MPI_Fetch_and_op(&unused, &part, MPI_INT64_T, rank, slot_of(size, 0), MPI_NO_OP, worker->windows[w]);
        MPI_Win_flush(rank, worker->windows[w]);
        sum += part;
    }
    MPI_Barrier(worker->own);
    if (sum != worker->additions)
        fail(worker, NULL, "%lld additions have arrived, not %lld", (long long)sum, (long long)worker->additions);
}

static void draw_access(struct operation *op, struct worker *worker)
{
    op->form = below(&worker->together, ACCESSES);
    op->other_form = below(&worker->together, 2);
    op->shift = below(&worker->together, size);
    op->bytes = draw_bytes(worker, SLOT_BYTES);
    op->out = take(worker, SLOT_BYTES);
    op->in = take(worker, SLOT_BYTES);
}

static void start_access(struct operation *op, struct worker *worker)
{
    static const int64_t one = 1;
    MPI_Win window = worker->windows[op->other_form];
    MPI_Request *request = request_of(op, worker);
    struct layout slot = { 0, op->bytes, op->bytes };
    int n = (int)op->bytes, to = up(op);
    fill(&slot, op->out, seed_of(op, worker, rank));
    switch (op->form) {
    case RPUT:
        MPI_Rput(op->out, n, MPI_BYTE, to, slot_of(rank, op->number), n, MPI_BYTE, window, request);
        break;
    case RGET: /* what a put has just written there */
        MPI_Put(op->out, n, MPI_BYTE, to, slot_of(rank, op->number), n, MPI_BYTE, window);
        MPI_Win_flush(to, window);
        MPI_Rget(op->in, n, MPI_BYTE, to, slot_of(rank, op->number), n, MPI_BYTE, window, request);
        break;
    case RACCUMULATE:
        worker->additions++;
        MPI_Raccumulate(&one, 1, MPI_INT64_T, to, slot_of(size, 0), 1, MPI_INT64_T, MPI_SUM, window, request);
        break;
    default:
        worker->additions++;
        MPI_Rget_accumulate(&one, 1, MPI_INT64_T, op->in, 1, MPI_INT64_T, to, slot_of(size, 0), 1, MPI_INT64_T, MPI_SUM, window,
                            request);
    }
}

static void check_access(struct operation *op, struct worker *worker)
{
    MPI_Win window = worker->windows[op->other_form];
    struct layout slot = { 0, op->bytes, op->bytes };
    if (op->form == RPUT) {
        memset(op->in, 0, op->bytes);
        MPI_Win_flush(up(op), window);
        MPI_Get(op->in, (int)op->bytes, MPI_BYTE, up(op), slot_of(rank, op->number), (int)op->bytes, MPI_BYTE, window);
        MPI_Win_flush(up(op), window);
    }
    if (op->form <= RGET && !holds(&slot, op->in, seed_of(op, worker, rank)))
        fail(worker, op, "%zu bytes at rank %d are not what was put there", op->bytes, up(op));
}

const struct kind access_kind = { "access", draw_access, start_access, NULL, check_access, NULL };
