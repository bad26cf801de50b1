/* The benchmarks of many outstanding requests, after Denis 2019 §VI-B: rank 0 starts N sends of one byte, rank 1 N
 * receives, both wait for all, a barrier ends it; the result is the whole time divided by N. They differ in how the
 * receives name their messages and in which order they are posted. */
#ifndef WEFT_BENCH_REQUESTS_H
#define WEFT_BENCH_REQUESTS_H

#include "ranks.h"

struct pattern {
    const char *name;
    bool distinct_tags; /* message i has tag i, else all have tag 0 */
    bool shuffled;      /* receives are posted in a random order, the same in every run */
    bool any_source;
    bool any_tag;
    bool unexpected; /* all messages have arrived before the first receive is posted */
};

struct traffic {
    struct pattern pattern;
    int n;
    int *order;                          /* the i-th receive posted is that of message order[i] */
    unsigned char *data, *expected;      /* expected[k]: what the k-th receive buffer must hold */
    MPI_Request *requests;
};

static inline int message_tag(const struct traffic *t, int message)
{
    return t->pattern.distinct_tags ? message : 0;
}

static inline void send_all(struct traffic *t)
{
    for (int i = 0; i < t->n; i++)
        MPI_Isend(&t->expected[i], 1, MPI_BYTE, 1, message_tag(t, i), MPI_COMM_WORLD, &t->requests[i]);
    /* sent after all the others, so once the receiver can see it, they have arrived (MPI-3.1 §3.5, order) */
    if (t->pattern.unexpected)
        MPI_Isend(0, 0, MPI_BYTE, 1, t->n, MPI_COMM_WORLD, &t->requests[t->n]);
    MPI_Waitall(t->n + t->pattern.unexpected, t->requests, MPI_STATUSES_IGNORE);
}

static inline void await_last(struct traffic *t)
{
    int arrived = 0;
    while (!arrived)
        MPI_Iprobe(0, t->n, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    MPI_Recv(0, 0, MPI_BYTE, 0, t->n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static inline void receive_all(struct traffic *t)
{
    int source = t->pattern.any_source ? MPI_ANY_SOURCE : 0;
    if (t->pattern.unexpected)
        await_last(t);
    for (int i = 0; i < t->n; i++) {
        int message = t->order[i], tag = t->pattern.any_tag ? MPI_ANY_TAG : message_tag(t, message);
        MPI_Irecv(&t->data[message], 1, MPI_BYTE, source, tag, MPI_COMM_WORLD, &t->requests[i]);
    }
    MPI_Waitall(t->n, t->requests, MPI_STATUSES_IGNORE);
}

/* The check of the data costs two passes over N bytes, less than a tenth of a nanosecond a message. */
static inline void transfer(void *state, long repetitions)
{
    struct traffic *t = state;
    for (long i = 0; i < repetitions; i++) {
        if (my_rank == 0) {
            send_all(t);
        } else {
            receive_all(t);
            if (memcmp(t->data, t->expected, (size_t)t->n))
                fail("%s: a receive got the wrong message (n = %d)", t->pattern.name, t->n);
            memset(t->data, 0, (size_t)t->n);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static inline void shuffle_order(int *order, int n)
{
    uint64_t seed = 1;
    for (int i = n - 1; i > 0; i--) {
        int other = (int)(random_next(&seed) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static inline void requests_point(const char *bench, const struct pattern *pattern, int n, double seconds)
{
    static struct sampler s;
    struct traffic t = {.pattern = *pattern, .n = n};
    t.order = pages((size_t)n * sizeof *t.order);
    t.data = pages((size_t)n);
    t.expected = pages((size_t)n);
    t.requests = pages(((size_t)n + 1) * sizeof *t.requests);
    random_fill(t.expected, (size_t)n, 7);
    for (int i = 0; i < n; i++)
        t.order[i] = i;
    if (pattern->shuffled)
        shuffle_order(t.order, n);
    measure(transfer, &t, seconds, &s);
    if (my_rank == 0)
        print_time(bench, pattern->name, n, "ns", &s, 1e9 / n);
    free(t.requests);
    free(t.expected);
    free(t.data);
    free(t.order);
}

/* A whole program: every pattern at every n, patterns innermost. */
static inline int requests_main(int argc, char **argv, const char *bench, const struct pattern *patterns, int count)
{
    struct options o = read_options(argc, argv, "n", "64,256,1K,4K,16K,64K,256K,1M", 0.25);
    int *tag_limit, known;
    start(&argc, &argv, bench, MPI_THREAD_SINGLE, 2);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_limit, &known);
    for (int i = 0; i < o.count; i++)
        for (int j = 0; j < count; j++) {
            if (o.points[i] < 1 || o.points[i] >= INT32_MAX)
                fail("%s: n is from 1 to 2^31 - 2", bench);
            if (patterns[j].distinct_tags && known && o.points[i] > *tag_limit)
                fail("%s: %lld requests need as many tags, and this library has %d", bench, o.points[i], *tag_limit);
            requests_point(bench, &patterns[j], (int)o.points[i], o.seconds);
        }
    MPI_Finalize();
    return 0;
}
#endif
