/* patterns: the message patterns and collectives by which users compare MPI libraries, timed as IMB-MPI1 and the OSU benchmarks
 * time them by default. Two or more ranks, --sizes from 0 bytes, and
 *
 *     --operations PingPong,Bcast   some of them; the names are IMB's, in any case
 *     --off-cache N                 successive calls take turns through N bytes of buffers; without it, through one buffer each way
 *     --offset N                    buffers begin N bytes behind a page
 *     --first-use                   one call a point, on a communicator and in buffers that were never used
 *     --with-barrier                a collective's figure is that of a call and the barrier after it
 *     --seconds S                   a point's calls end about S seconds after they began
 *
 * A size is measured by 1000 calls, by fewer where they would move more than 40 MiB or outlast the point's seconds, after at most a
 * tenth as many that warm up, and before the first point as many as fill 20 ms. Point-to-point patterns and the barrier are timed as
 * a whole. Of the other collectives each call is timed alone, root 0 throughout, and a barrier stands between two. The figure is a
 * call's mean on the rank where it is largest. A library whose barrier lets a rank go early has that rank wait in the call instead,
 * and one whose ranks wait longer in the barrier has shorter calls: what both cost together is told with the barrier. Patterns of pairs are those of rank i and rank i + N/2, all pairs at once; where N is
 * odd, the last rank only waits. */
#include "patterns.h"
#include <strings.h>
#include <sys/mman.h>

enum { CALLS_MAX = 1000, VOLUME_BYTES = 40 << 20, WARM_UP_PART = 10 };
#define SETTLE_SECONDS 0.02

static int calls_of(int bytes)
{
    int most = bytes ? VOLUME_BYTES / bytes : CALLS_MAX;
    return most < 1 ? 1 : most > CALLS_MAX ? CALLS_MAX : most;
}

/* Seconds of `count` calls, and of what lies between those that are timed alone. */
struct taken {
    double calls, all;
};

static struct taken take(const struct pattern *p, struct traffic *t, int count)
{
    struct taken taken = {0, 0};
    MPI_Barrier(t->comm);
    MPI_Barrier(t->comm);
    double begin = seconds_now();
    for (int i = 0; i < count; i++) {
        double called = p->alone ? seconds_now() : 0;
        p->call(t, i);
        if (p->alone) {
            taken.calls += seconds_now() - called;
            MPI_Barrier(t->comm);
        }
    }
    taken.all = seconds_now() - begin;
    if (!p->alone)
        taken.calls = taken.all;
    return taken;
}

/* The largest of all ranks, on all of them. */
static double largest(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* At most `calls`, and no more than end within these seconds, but one. */
static int within(int calls, double seconds, double seconds_a_call)
{
    if (seconds_a_call * calls > seconds)
        calls = (int)(seconds / seconds_a_call);
    return calls < 1 ? 1 : calls;
}

/* Before a program's first point its calls go on for a moment, in which the kernel places the processes and the library finds its pace;
 * else that point alone would have the cost. */
static void settle(const struct pattern *p, struct traffic *t)
{
    static bool settled;
    double begin = seconds_now();
    while (!settled && largest(seconds_now() - begin) < SETTLE_SECONDS)
        take(p, t, WARM_UP_PART);
    settled = true;
}

/* Calls that warm up; returns how many are to be measured. The first one, which may connect ranks, tells nothing of others. */
static int warm_up(const struct pattern *p, struct traffic *t, double seconds)
{
    int calls = calls_of(t->bytes);
    settle(p, t);
    take(p, t, 1);
    double second = largest(take(p, t, 1).all);
    int few = within(calls / WARM_UP_PART + 1, seconds / WARM_UP_PART, second);
    return within(calls, seconds, largest(take(p, t, few).all) / few);
}

/* ---- buffers ---- */

/* Where an operation's blocks lie: `slots` copies of them, `stride` apart. */
static void lay_out(struct traffic *t, const struct pattern *p, const struct options *o)
{
    size_t blocks = p->blocks ? (size_t)rank_count : 1;
    t->stride = (blocks * (size_t)t->bytes / CACHE_LINE + 1) * CACHE_LINE;
    size_t slots = (size_t)o->off_cache / t->stride;
    t->slots = slots > 1 ? (int)slots : 1;
}

static size_t room(const struct traffic *t, const struct options *o)
{
    return t->stride * (size_t)t->slots + (size_t)o->offset;
}

/* Memory that was never touched. */
static unsigned char *untouched(size_t bytes)
{
    void *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no memory for %zu bytes", bytes);
    return memory;
}

/* Both buffers of one size; kept from point to point and grown, unless they are to be new at each. */
struct memory {
    unsigned char *send, *receive;
    size_t bytes;
};

static void release(struct memory *m)
{
    if (m->bytes) {
        munmap(m->send, m->bytes);
        munmap(m->receive, m->bytes);
    }
    m->bytes = 0;
}

static void reserve(struct memory *m, size_t bytes, bool is_new)
{
    if (bytes <= m->bytes && !is_new)
        return;
    release(m);
    m->send = untouched(bytes);
    m->receive = untouched(bytes);
    m->bytes = bytes;
}

/* What this rank sends, in each slot. */
static void fill(struct traffic *t, const struct pattern *p)
{
    for (int slot = 0; slot < t->slots; slot++)
        if (p->floats)
            for (int i = 0; i < t->bytes / FLOAT_BYTES; i++)
                ((float *)(void *)out(t, slot))[i] = summand(my_rank);
        else
            for (int to = 0; to < (p->blocks ? rank_count : 1); to++)
                memset(out(t, slot) + (size_t)to * (size_t)t->bytes, stamp(my_rank, p->blocks ? to : 0), (size_t)t->bytes);
}

/* ---- points ---- */

static void point(const struct pattern *p, int bytes, struct memory *m, const struct options *o)
{
    struct traffic t = {.comm = MPI_COMM_WORLD, .bytes = bytes, .offset = (size_t)o->offset};
    int calls = 1;
    if (p->floats && (bytes % FLOAT_BYTES || o->offset % FLOAT_BYTES))
        fail("patterns: %s adds floats: sizes and offsets are multiples of %d bytes", p->name, FLOAT_BYTES);
    lay_out(&t, p, o);
    reserve(m, room(&t, o), o->first_use);
    t.send = m->send;
    t.receive = m->receive;
    fill(&t, p);
    if (o->first_use) {
        MPI_Comm_dup(MPI_COMM_WORLD, &t.comm);
    } else {
        memset(t.receive, 0, room(&t, o));
        calls = warm_up(p, &t, o->seconds);
    }
    struct taken taken = take(p, &t, calls);
    double us = largest(o->with_barrier ? taken.all : taken.calls) / calls * 1e6 / p->parts;
    if (!p->right(&t, calls - 1))
        fail("patterns: %s: wrong data at %d bytes", p->name, bytes);
    if (my_rank == 0)
        print_spread("patterns", p->name, bytes, "us", (struct spread){us, us, us}, calls);
    if (o->first_use)
        MPI_Comm_free(&t.comm);
}

/* Whether a list of names, by commas, has this one; no list has all. */
static bool is_chosen(const char *list, const char *name)
{
    size_t length = strlen(name);
    if (!list)
        return true;
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncasecmp(at, name, length) && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes",
                                    "0,4,8,16,32,64,128,256,512,1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M", 0.05);
    struct memory memory = {0, 0, 0};
    start(&argc, &argv, "patterns", MPI_THREAD_SINGLE, 0);
    if (rank_count < 2)
        fail("patterns: runs on two ranks or more");
    for (int i = 0; i < o.count; i++)
        if (o.points[i] > INT32_MAX / rank_count)
            fail("patterns: blocks of %lld bytes from %d ranks are more than an int counts", o.points[i], rank_count);
    for (int k = 0; k < PATTERNS; k++) {
        const struct pattern *p = &patterns[k];
        if (!is_chosen(o.operations, p->name))
            continue;
        for (int i = 0; i < (p->sizeless ? 1 : o.count); i++)
            point(p, p->sizeless ? 0 : (int)o.points[i], &memory, &o);
    }
    release(&memory);
    MPI_Finalize();
    return 0;
}
