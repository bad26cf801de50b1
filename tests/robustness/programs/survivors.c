/* survivors FORM BYTES NUMBER MICROSECONDS: a stream of collective operations of every kind, in which the last rank is killed
 * so long after it has begun the operation of that number, or a few operations later at the latest. Each of the others must come out of every operation before and after
 * soon, with MPI_ERR_PROC_ABORTED or with the whole right result. Those who do say "ok survivors RANK errors N".
 * FORM: messages (few operations on each communicator), board (many on one), nonblocking, persistent, inter. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KINDS = 11, LATER = 3, AFTER = KINDS + LATER, UNDER_WAY = 3, EACH = 7, COMMUNICATORS = 24 };
enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, SCAN, EXSCAN, REDUCE_SCATTER };
static const uint32_t STEP = 7;
static const char *const names[KINDS] = { "barrier",   "bcast",    "reduce", "allreduce", "gather",        "scatter",
                                          "allgather", "alltoall", "scan",   "exscan",    "reduce_scatter" };

struct operation {
    int kind, number, root;
    uint32_t *in, *out;
    MPI_Request request;
    double begin;
};

static int rank, size, victim, count, delay_us;
/* On an inter-communicator the even ranks are on one side, the odd ones on the other. `sources` is the size of the group that
 * data come from, `own` the rank in the group that they come to. */
static int inter, sources, own;
static MPI_Comm comm;
/* The last operation that each rank has begun, where the others see it also when it is dead. */
static int *begun[64];

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wrong(const struct operation *op, const char *what, long long got, long long expected)
{
    printf("rank %d: operation %d, %s: %s: %lld, expected %lld\n", rank, op->number, names[op->kind], what, got, expected);
    fflush(stdout);
    _exit(3);
}

/* Of a rank of the group that data come from. */
static int world(int source) { return inter ? 2 * source + 1 - rank % 2 : source; }

static uint32_t value(int number, int from, int to, int index)
{
    return (uint32_t)number * 1000003u + (uint32_t)from * 10007u + (uint32_t)to * 101u + (uint32_t)index * STEP;
}

/* Blocks of an operation's buffers. */
static int blocks(int kind, int sends)
{
    int all = sources > size ? sources : size;
    switch (kind) {
    case ALLTOALL: return all;
    case GATHER:
    case ALLGATHER: return sends ? 1 : all;
    case SCATTER:
    case REDUCE_SCATTER: return sends ? all : 1;
    default: return 1;
    }
}

static void fill(struct operation *op)
{
    int all = blocks(op->kind, 1);
    for (int to = 0; to < all; to++)
        for (int i = 0; i < count; i++)
            op->in[to * count + i] = value(op->number, rank, op->kind == BCAST ? 0 : to, i);
    memset(op->out, 0xee, (size_t)blocks(op->kind, 0) * (size_t)count * sizeof *op->out);
    if (op->kind == BCAST && rank == op->root)
        memcpy(op->out, op->in, (size_t)count * sizeof *op->out);
}

static void expect(const struct operation *op, int block, int from, int upto, int to)
{
    uint32_t first = 0, sum;
    for (int r = from; r < upto; r++)
        first += value(op->number, world(r), to, 0);
    for (int i = 0; i < count; i++)
        if (op->out[block * count + i] != (sum = first + (uint32_t)(upto - from) * STEP * (uint32_t)i))
            wrong(op, "data", op->out[block * count + i], sum);
}

/* What an operation that succeeded must have done. */
static void check(const struct operation *op)
{
    switch (op->kind) {
    case BARRIER:
        for (int r = 0; r < sources; r++)
            if (__atomic_load_n(begun[world(r)], __ATOMIC_SEQ_CST) < op->number)
                wrong(op, "a rank has begun", *begun[world(r)], op->number);
        break;
    case BCAST: expect(op, 0, op->root, op->root + 1, 0); break;
    case REDUCE:
        if (rank == op->root)
            expect(op, 0, 0, sources, 0);
        break;
    case ALLREDUCE: expect(op, 0, 0, sources, 0); break;
    case GATHER:
        for (int r = 0; r < sources && rank == op->root; r++)
            expect(op, r, r, r + 1, 0);
        break;
    case SCATTER: expect(op, 0, op->root, op->root + 1, own); break;
    case ALLGATHER:
        for (int r = 0; r < sources; r++)
            expect(op, r, r, r + 1, 0);
        break;
    case ALLTOALL:
        for (int r = 0; r < sources; r++)
            expect(op, r, r, r + 1, own);
        break;
    case SCAN: expect(op, 0, 0, rank + 1, 0); break;
    case EXSCAN:
        if (rank > 0)
            expect(op, 0, 0, rank, 0);
        break;
    case REDUCE_SCATTER: expect(op, 0, 0, sources, own); break;
    }
}

#define CALL(BLOCKING, NONBLOCKING, PERSISTENT, ...) \
    (form == 'n' ? NONBLOCKING(__VA_ARGS__, &op->request) \
     : form == 'p' ? PERSISTENT(__VA_ARGS__, MPI_INFO_NULL, &op->request) \
                   : BLOCKING(__VA_ARGS__))

static int call(struct operation *op, char form)
{
    uint32_t *in = op->in, *out = op->out;
    const MPI_Datatype type = MPI_UINT32_T;
    switch (op->kind) {
    case BARRIER: return CALL(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, comm);
    case BCAST: return CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, out, count, type, op->root, comm);
    case REDUCE: return CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, in, out, count, type, MPI_SUM, op->root, comm);
    case ALLREDUCE: return CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, in, out, count, type, MPI_SUM, comm);
    case GATHER:
        return CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, in, count, type, out, count, type, op->root, comm);
    case SCATTER:
        return CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, in, count, type, out, count, type, op->root, comm);
    case ALLGATHER:
        return CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, in, count, type, out, count, type, comm);
    case ALLTOALL: return CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, in, count, type, out, count, type, comm);
    case SCAN: return CALL(MPI_Scan, MPI_Iscan, MPI_Scan_init, in, out, count, type, MPI_SUM, comm);
    case EXSCAN: return CALL(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, in, out, count, type, MPI_SUM, comm);
    default:
        return CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, in, out, count,
                    type, MPI_SUM, comm);
    }
}

static void *killer(void *unused)
{
    (void)unused;
    double begin = seconds();
    while ((seconds() - begin) * 1e6 < delay_us)
        ;
    raise(SIGKILL);
    return 0;
}

static void begin(struct operation *op, int number, int deadly)
{
    pthread_t thread;
    op->number = number;
    op->begin = seconds();
    __atomic_store_n(begun[rank], number, __ATOMIC_SEQ_CST);
    if (rank == victim && number == deadly)
        pthread_create(&thread, 0, killer, 0);
    if (rank == victim && number == deadly + LATER)
        raise(SIGKILL);
}

/* The end of an operation: 1 if it failed. From here on its buffers hold other things. */
static int end(struct operation *op, int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (seconds() - op->begin > 4.0)
        wrong(op, "milliseconds", (long long)(1e3 * (seconds() - op->begin)), 0);
    if (class == MPI_SUCCESS)
        check(op);
    else if (class != MPI_ERR_PROC_ABORTED)
        wrong(op, "class", class, MPI_ERR_PROC_ABORTED);
    memset(op->in, 0xdd, (size_t)blocks(op->kind, 1) * (size_t)count * sizeof *op->in);
    memset(op->out, 0xdd, (size_t)blocks(op->kind, 0) * (size_t)count * sizeof *op->out);
    return class != MPI_SUCCESS;
}

static struct operation made(int number)
{
    static const int of_inter[] = { BARRIER, ALLREDUCE, ALLGATHER, ALLTOALL };
    struct operation op = { .kind = number % KINDS, .number = number, .root = number / KINDS % size };
    if (inter)
        op.kind = of_inter[number % 4];
    size_t bytes = (size_t)(sources > size ? sources : size) * (size_t)count * sizeof *op.in;
    op.in = malloc(bytes);
    op.out = malloc(bytes);
    op.request = MPI_REQUEST_NULL;
    return op;
}

static void unmake(struct operation *op)
{
    free(op->in);
    free(op->out);
}

/* With `each`, so many operations on each communicator: too few for one to get memory that all share. */
static int blocking(int operations, int deadly, int each)
{
    static MPI_Comm several[COMMUNICATORS];
    int errors = 0;
    MPI_Comm parent = comm;
    for (int i = 0; i < COMMUNICATORS && each; i++)
        MPI_Comm_dup(parent, &several[i]);
    for (int number = 0; number < operations; number++) {
        struct operation op = made(number);
        if (each)
            comm = several[number / each];
        fill(&op);
        begin(&op, number, deadly);
        errors += end(&op, call(&op, 'b'));
        unmake(&op);
    }
    return errors;
}

static int nonblocking(int operations, int deadly)
{
    int errors = 0;
    for (int number = 0; number < operations; number += UNDER_WAY) {
        struct operation ops[UNDER_WAY];
        int codes[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            ops[i] = made(number + i);
            fill(&ops[i]);
            begin(&ops[i], number + i, deadly);
            codes[i] = call(&ops[i], 'n');
        }
        for (int i = 0; i < UNDER_WAY; i++) {
            errors += end(&ops[i], codes[i] ? codes[i] : MPI_Wait(&ops[i].request, MPI_STATUS_IGNORE));
            unmake(&ops[i]);
        }
    }
    return errors;
}

static int persistent(int operations, int deadly)
{
    struct operation ops[KINDS];
    int errors = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        ops[kind] = made(kind);
        if (call(&ops[kind], 'p') != MPI_SUCCESS)
            wrong(&ops[kind], "no request", 0, 0);
    }
    for (int number = 0; number < operations; number++) {
        struct operation *op = &ops[number % KINDS];
        op->number = number;
        fill(op);
        begin(op, number, deadly);
        int code = MPI_Start(&op->request);
        errors += end(op, code ? code : MPI_Wait(&op->request, MPI_STATUS_IGNORE));
    }
    return errors;
}

static void take_sides(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(comm, &sources);
    inter = 1;
    own = rank / 2;
}

int main(int argc, char **argv)
{
    int deadly, operations, errors, *base;
    MPI_Win window;
    if (argc != 5)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGTERM, SIG_IGN);
    comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    count = atoi(argv[2]) / (int)sizeof(uint32_t);
    deadly = atoi(argv[3]);
    delay_us = atoi(argv[4]);
    operations = deadly + AFTER;
    operations += UNDER_WAY - operations % UNDER_WAY;
    victim = size - 1;
    sources = size;
    own = rank;
    MPI_Win_allocate_shared(sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &base, &window);
    for (int r = 0; r < size; r++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, r, &bytes, &unit, &begun[r]);
    }
    *base = -1;
    MPI_Barrier(comm);
    switch (argv[1][0]) {
    case 'm': errors = blocking(operations < EACH * COMMUNICATORS ? operations : EACH * COMMUNICATORS, deadly, EACH); break;
    case 'b': errors = blocking(operations, deadly, 0); break;
    case 'n': errors = nonblocking(operations, deadly); break;
    case 'p': errors = persistent(operations, deadly); break;
    case 'i':
        take_sides();
        errors = blocking(operations, deadly, 0);
        break;
    default: return 2;
    }
    printf("ok survivors %d errors %d\n", rank, errors);
    fflush(stdout);
    raise(SIGKILL);
    return 0;
}
