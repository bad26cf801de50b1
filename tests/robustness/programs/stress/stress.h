/* The parts of the stress program.
 *
 * Every process has THREADS workers; the workers of one number on all ranks are a team. A team's draws (`together`) are the
 * same on all its ranks, so each knows what its peers start; a worker's own draws (`alone`) decide how it waits. Work comes in
 * batches: some operations of drawn kinds are all started, then carried through their middle (probes, partitions), then
 * completed together by a drawn call, then checked; all that several times over, persistent requests being started again.
 *
 * Nobody blocks while it starts operations, and the middle of an operation waits for nothing but the starts of the same
 * batch and the middles of earlier operations: so a batch always ends. */
#ifndef WEFT_STRESS_H
#define WEFT_STRESS_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 3,
    OPERATIONS = 14, /* of a batch */
    REQUESTS = 2 * OPERATIONS,
    ROUNDS_MAX = 3,
    RANKS_MAX = 16,
    LARGEST = 1 << 20,
    ARENA_BYTES = 12 << 20, /* of a worker, for a batch */
    BUFFERED_MAX = 4096,
    SLOT_BYTES = 4096, /* of a window, for each origin and operation */
    BATCHES_OF_A_STRETCH = 4 /* between two meetings of a team */
};

struct worker;
struct operation;

/* A way to lay out bytes in memory. */
struct layout {
    int form;
    size_t bytes, span; /* of data, and of memory from the first to beyond the last */
};

struct kind {
    const char *name;
    void (*draw)(struct operation *op, struct worker *worker);
    void (*start)(struct operation *op, struct worker *worker);  /* once a round */
    void (*middle)(struct operation *op, struct worker *worker); /* may be absent, as may be `end` */
    void (*check)(struct operation *op, struct worker *worker);
    void (*end)(struct operation *op, struct worker *worker);
};

struct operation {
    const struct kind *kind;
    int number, form, other_form, tag, shift, root, persistent, count, own_reduction, partitions;
    uint32_t seed;
    size_t bytes;
    MPI_Comm comm, made;
    struct layout sent, received;
    unsigned char *out, *in;
    int first, requests; /* its place in the worker's arrays */
    int numbers[4 * RANKS_MAX];
};

struct worker {
    int thread, batch, round;
    uint32_t together, alone;
    MPI_Comm own, second, grid, wild, between; /* `between` two halves; null on one rank */
    MPI_Win windows[2];                        /* memory of the library's, of the program's */
    unsigned char *window_memory;
    MPI_File file;
    int64_t additions; /* that every rank's counter of this team has seen in each window, by the plan */
    unsigned char *arena;
    size_t arena_used;
    struct operation operations[OPERATIONS];
    int used;
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    char status_known[REQUESTS];
    long completed;
};

/* Written before the workers start. */
extern int rank, size;
extern uint32_t base_seed;
extern MPI_Comm shared;          /* of all teams; tags tell them apart */
extern unsigned char *constant;  /* LARGEST bytes that never change: what is sent from after its request is freed */

extern const struct kind message_kind, exchange_kind, cancelled_kind, wild_kind;
extern const struct kind collective_kind, neighbour_kind, intercommunicator_kind, duplicate_kind;
extern const struct kind access_kind, partitioned_kind, generalized_kind, file_kind;

/* Ends the job with the place, the seed and what was wrong. */
void fail(const struct worker *worker, const struct operation *op, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

/* The next request of an operation that is being started. In later rounds the same ones come again, in the same order. */
MPI_Request *request_of(struct operation *op, struct worker *worker);
const MPI_Status *status_of(const struct operation *op, const struct worker *worker, int which); /* or NULL */
void *take(struct worker *worker, size_t bytes);
size_t draw_bytes(struct worker *worker, size_t most);
void free_requests(struct operation *op, struct worker *worker);

void create_layout(const struct layout *layout, MPI_Datatype *type, int *count);
struct layout draw_layout(struct worker *worker, size_t bytes);
void fill(const struct layout *layout, unsigned char *memory, uint32_t seed);
void blank(const struct layout *layout, unsigned char *memory);
/* Whether the data are those of `seed` and the memory between them is still blank. */
int holds(const struct layout *layout, const unsigned char *memory, uint32_t seed);

void create_reduction(void);
void free_reduction(void);
extern int uses_windows, uses_files;
void create_file(struct worker *worker);
void free_file(struct worker *worker);
void create_windows(struct worker *worker);
void free_windows(struct worker *worker);
void check_counters(struct worker *worker);
void start_completer(void);
void stop_completer(void);

static inline int below(uint32_t *state, int limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)((*state >> 12) % (unsigned)limit);
}

static inline int up(const struct operation *op) { return (rank + op->shift) % size; }
static inline int down(const struct operation *op) { return (rank - op->shift + size) % size; }

/* What `source` sends in this round. */
static inline uint32_t seed_of(const struct operation *op, const struct worker *worker, int source)
{
    return op->seed + (uint32_t)source * 7919u + (uint32_t)worker->round * 104729u;
}

static inline unsigned char pattern(size_t index, uint32_t seed)
{
    uint32_t x = (uint32_t)index * 0x9E3779B1u + seed * 0x85EBCA77u;
    return (unsigned char)(x ^ x >> 9 ^ x >> 21);
}

#endif
