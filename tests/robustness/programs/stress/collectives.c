/* Nonblocking and persistent collectives, of integers computed from rank and place. */
#include "stress.h"

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, ALLTOALLV, SCAN, EXSCAN, REDUCE_SCATTER, FORMS };

/* Pairs of integers that stand for maps x -> a x + b. Composition is associative and depends on the order. */
struct map {
    uint32_t a, b;
};
static MPI_Datatype map_type;
static MPI_Op composition;

static struct map composed(struct map first, struct map then)
{
    return (struct map){ then.a * first.a, then.a * first.b + then.b };
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((struct map *)inout)[i] = composed(((struct map *)in)[i], ((struct map *)inout)[i]);
}

void create_reduction(void)
{
    MPI_Type_contiguous(2, MPI_UINT32_T, &map_type);
    MPI_Type_commit(&map_type);
    MPI_Op_create(compose, 0, &composition);
}

void free_reduction(void)
{
    MPI_Type_free(&map_type);
    MPI_Op_free(&composition);
}

/* The integer that `source` has at `index`, in this round. */
static uint32_t value(const struct operation *op, const struct worker *worker, int source, size_t index)
{
    return (seed_of(op, worker, source) + (uint32_t)index * 2654435761u) >> 7;
}

static struct map map_of(const struct operation *op, const struct worker *worker, int source, size_t index)
{
    return (struct map){ value(op, worker, source, 2 * index), value(op, worker, source, 2 * index + 1) };
}

/* Elements that rank `from` sends to rank `to`, in MPI_Alltoallv. */
static int passed(const struct operation *op, int from, int to) { return (from * 3 + to + op->number) % 4 * op->count / 4; }

static int is_reduction(const struct operation *op)
{
    return op->form == REDUCE || op->form == ALLREDUCE || op->form == SCAN || op->form == EXSCAN;
}

static void draw_collective(struct operation *op, struct worker *worker)
{
    uint32_t *state = &worker->together;
    op->form = below(state, FORMS);
    op->comm = below(state, 2) ? worker->own : worker->second;
    op->persistent = below(state, 3) == 0;
    op->root = below(state, size);
    op->count = (int)draw_bytes(worker, (size_t)(LARGEST / 4 / size)) / 4;
    op->own_reduction = is_reduction(op) && below(state, 3) == 0;
    op->bytes = (size_t)op->count * (size_t)size * sizeof(uint32_t) * 2;
    op->out = take(worker, op->bytes);
    op->in = take(worker, op->bytes);
}

/* One line for both ways to start it. */
#define START(op, request, Name, name, ...) \
    ((op)->persistent ? MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request) : MPI_I##name(__VA_ARGS__, request))

static void set_partition(struct operation *op)
{
    int *sent = op->numbers, *sent_at = sent + size, *received = sent_at + size, *received_at = received + size;
    for (int r = 0, out = 0, in = 0; r < size; r++) {
        sent[r] = passed(op, rank, r);
        received[r] = passed(op, r, rank);
        sent_at[r] = out, received_at[r] = in;
        out += sent[r], in += received[r];
    }
}

static void start_collective(struct operation *op, struct worker *worker)
{
    MPI_Request *request = request_of(op, worker);
    MPI_Datatype type = op->own_reduction ? map_type : MPI_UINT32_T;
    MPI_Op sum = op->own_reduction ? composition : MPI_SUM;
    uint32_t *out = (uint32_t *)op->out, *in = (uint32_t *)op->in;
    int n = op->count, *numbers = op->numbers;
    for (size_t i = 0; i < op->bytes / 4; i++) {
        out[i] = value(op, worker, rank, i);
        in[i] = 0;
    }
    if (op->form == BCAST && rank == op->root)
        memcpy(in, out, op->bytes);
    if (op->persistent && worker->round > 0) {
        MPI_Start(request);
        return;
    }
    switch (op->form) {
    case BARRIER: START(op, request, Barrier, barrier, op->comm); break;
    case BCAST: START(op, request, Bcast, bcast, in, n, type, op->root, op->comm); break;
    case REDUCE: START(op, request, Reduce, reduce, out, in, n, type, sum, op->root, op->comm); break;
    case ALLREDUCE: START(op, request, Allreduce, allreduce, out, in, n, type, sum, op->comm); break;
    case GATHER: START(op, request, Gather, gather, out, n, type, in, n, type, op->root, op->comm); break;
    case SCATTER: START(op, request, Scatter, scatter, out, n, type, in, n, type, op->root, op->comm); break;
    case ALLGATHER: START(op, request, Allgather, allgather, out, n, type, in, n, type, op->comm); break;
    case ALLTOALL: START(op, request, Alltoall, alltoall, out, n, type, in, n, type, op->comm); break;
    case ALLTOALLV:
        set_partition(op);
        START(op, request, Alltoallv, alltoallv, out, numbers, numbers + size, type, in, numbers + 2 * size,
              numbers + 3 * size, type, op->comm);
        break;
    case SCAN: START(op, request, Scan, scan, out, in, n, type, sum, op->comm); break;
    case EXSCAN: START(op, request, Exscan, exscan, out, in, n, type, sum, op->comm); break;
    default: START(op, request, Reduce_scatter_block, reduce_scatter_block, out, in, n, type, MPI_SUM, op->comm);
    }
    if (op->persistent)
        MPI_Start(request);
}

/* Where block `block` of the result comes from: `*source`, `*at` in its buffer, `*length` elements of it. */
static void origin(const struct operation *op, int block, int *source, size_t *at, int *length)
{
    *source = block, *at = 0, *length = op->count;
    switch (op->form) {
    case BCAST: *source = op->root; break;
    case SCATTER: *source = op->root, *at = (size_t)(rank * op->count); break;
    case ALLTOALL: *at = (size_t)(rank * op->count); break;
    case ALLTOALLV:
        for (int r = 0; r < rank; r++)
            *at += (size_t)passed(op, block, r);
        *length = passed(op, block, rank);
        break;
    }
}

static void check_moved(struct operation *op, struct worker *worker, int blocks)
{
    const uint32_t *in = (uint32_t *)op->in;
    for (int block = 0; block < blocks; block++) {
        int source, length;
        size_t at;
        origin(op, block, &source, &at, &length);
        for (int i = 0; i < length; i++, in++)
            if (*in != value(op, worker, source, at + (size_t)i))
                fail(worker, op, "element %d of rank %d is wrong", i, source);
    }
}

static void check_reduced(struct operation *op, struct worker *worker, int last, size_t at)
{
    for (int i = 0; i < op->count; i++) {
        struct map map = map_of(op, worker, 0, (size_t)i);
        uint32_t sum = 0;
        for (int r = 0; r <= last; r++)
            sum += value(op, worker, r, at + (size_t)i);
        for (int r = 1; r <= last && op->own_reduction; r++)
            map = composed(map, map_of(op, worker, r, (size_t)i));
        if (op->own_reduction ? memcmp(&map, (struct map *)op->in + i, sizeof map) != 0 : sum != ((uint32_t *)op->in)[i])
            fail(worker, op, "element %d is wrongly reduced", i);
    }
}

static void check_collective(struct operation *op, struct worker *worker)
{
    int is_root = rank == op->root;
    switch (op->form) {
    case BARRIER: break;
    case BCAST: case SCATTER: check_moved(op, worker, 1); break;
    case GATHER: check_moved(op, worker, is_root ? size : 0); break;
    case ALLGATHER: case ALLTOALL: case ALLTOALLV: check_moved(op, worker, size); break;
    case REDUCE: if (is_root) check_reduced(op, worker, size - 1, 0); break;
    case ALLREDUCE: check_reduced(op, worker, size - 1, 0); break;
    case SCAN: check_reduced(op, worker, rank, 0); break;
    case EXSCAN: if (rank > 0) check_reduced(op, worker, rank - 1, 0); break;
    default: check_reduced(op, worker, size - 1, (size_t)(rank * op->count));
    }
}

const struct kind collective_kind = {
    "collective", draw_collective, start_collective, NULL, check_collective, free_requests
};

/* Neighbourhoods of a periodic grid of two dimensions: four neighbours, some of whom may be the same process. */
static void draw_neighbour(struct operation *op, struct worker *worker)
{
    op->form = below(&worker->together, 2);
    op->comm = worker->grid;
    op->persistent = below(&worker->together, 2);
    op->count = (int)draw_bytes(worker, 32768) / 4;
    op->bytes = (size_t)op->count * 4 * sizeof(uint32_t);
    op->out = take(worker, op->bytes);
    op->in = take(worker, op->bytes);
}

static void start_neighbour(struct operation *op, struct worker *worker)
{
    MPI_Request *request = request_of(op, worker);
    uint32_t *out = (uint32_t *)op->out;
    int n = op->count;
    for (size_t i = 0; i < op->bytes / 4; i++)
        out[i] = value(op, worker, rank, i);
    memset(op->in, 0, op->bytes);
    if (op->persistent && worker->round > 0) {
        MPI_Start(request);
        return;
    }
    if (op->form == 0)
        START(op, request, Neighbor_allgather, neighbor_allgather, out, n, MPI_UINT32_T, op->in, n, MPI_UINT32_T, op->comm);
    else
        START(op, request, Neighbor_alltoall, neighbor_alltoall, out, n, MPI_UINT32_T, op->in, n, MPI_UINT32_T, op->comm);
    if (op->persistent)
        MPI_Start(request);
}

static void check_neighbour(struct operation *op, struct worker *worker)
{
    const uint32_t *in = (uint32_t *)op->in;
    for (int side = 0; side < 4; side++) {
        int neighbours[2];
        MPI_Cart_shift(op->comm, side / 2, 1, &neighbours[0], &neighbours[1]);
        /* What comes from below is what was sent upwards: block side ^ 1 of the neighbour (MPI-5.0 §8.6). */
        size_t at = op->form == 0 ? 0 : (size_t)((side ^ 1) * op->count);
        for (int i = 0; i < op->count; i++, in++)
            if (*in != value(op, worker, neighbours[side % 2], at + (size_t)i))
                fail(worker, op, "element %d of neighbour %d is wrong", i, side);
    }
}

const struct kind neighbour_kind = { "neighbour", draw_neighbour, start_neighbour, NULL, check_neighbour, free_requests };

/* Between the lower and the upper half of the ranks. */
static void draw_intercommunicator(struct operation *op, struct worker *worker)
{
    op->form = below(&worker->together, 2);
    op->comm = worker->between;
    op->persistent = below(&worker->together, 2);
    op->count = (int)draw_bytes(worker, 32768) / 4;
    op->bytes = (size_t)op->count * (size_t)size * sizeof(uint32_t);
    op->out = take(worker, op->bytes);
    op->in = take(worker, op->bytes);
}

static void start_intercommunicator(struct operation *op, struct worker *worker)
{
    uint32_t *out = (uint32_t *)op->out;
    int n = op->count;
    if (op->comm == MPI_COMM_NULL)
        return;
    MPI_Request *request = request_of(op, worker);
    for (int i = 0; i < n; i++)
        out[i] = value(op, worker, rank, (size_t)i);
    memset(op->in, 0, op->bytes);
    if (op->persistent && worker->round > 0) {
        MPI_Start(request);
        return;
    }
    if (op->form == 0)
        START(op, request, Allgather, allgather, out, n, MPI_UINT32_T, op->in, n, MPI_UINT32_T, op->comm);
    else
        START(op, request, Allreduce, allreduce, out, op->in, n, MPI_UINT32_T, MPI_SUM, op->comm);
    if (op->persistent)
        MPI_Start(request);
}

static void check_intercommunicator(struct operation *op, struct worker *worker)
{
    const uint32_t *in = (uint32_t *)op->in;
    int half = size / 2, first = rank < half ? half : 0, beyond = rank < half ? size : half;
    if (op->comm == MPI_COMM_NULL)
        return;
    for (int i = 0; i < op->count; i++) {
        uint32_t sum = 0;
        for (int r = first; r < beyond; r++) {
            uint32_t one = value(op, worker, r, (size_t)i);
            sum += one;
            if (op->form == 0 && in[(r - first) * op->count + i] != one)
                fail(worker, op, "element %d of rank %d of the others is wrong", i, r);
        }
        if (op->form == 1 && in[i] != sum)
            fail(worker, op, "element %d is wrongly reduced", i);
    }
}

const struct kind intercommunicator_kind = {
    "intercommunicator", draw_intercommunicator, start_intercommunicator, NULL, check_intercommunicator, free_requests
};

/* A communicator made by a request, used when it is there, and freed. */
static void draw_duplicate(struct operation *op, struct worker *worker)
{
    op->comm = below(&worker->together, 2) ? worker->own : worker->second;
}

static void start_duplicate(struct operation *op, struct worker *worker)
{
    MPI_Comm_idup(op->comm, &op->made, request_of(op, worker));
}

static void check_duplicate(struct operation *op, struct worker *worker)
{
    int mine = op->number + rank, largest = -1;
    MPI_Allreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, op->made);
    if (largest != op->number + size - 1)
        fail(worker, op, "a duplicate's allreduce gives %d", largest);
    MPI_Comm_free(&op->made);
}

const struct kind duplicate_kind = { "duplicate", draw_duplicate, start_duplicate, NULL, check_duplicate, NULL };
