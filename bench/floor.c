/* floor: what this machine allows two processes on two cores, without any MPI: the figures beside which a library's
 * are read. Times are half round trips with the received buffer sent back, as in pingpong.
 *   flip     one word, one cache line, no payload                (8 bytes)
 *   lines    a ring of 64 cache lines, each a sequence number and 56 bytes   (to 1 KiB)
 *   ring     copy in and copy out through a ring of chunks
 *   cma      receiver reads one half while the sender writes the other, process_vm_readv / writev   (from 64 KiB)
 *   memcpy   one core copying                                    (MB/s)
 *   stream   one-way ring, x is the chunk size                   (MB/s) */
#include "bench.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 64, LINE_DATA = 56, LINES_LIMIT = 1024, RING_MAX = 1 << 20, STREAM_BYTES = 4 << 20, CMA_FROM = 65536, SPINS = 20000 };

typedef _Atomic uint64_t word;

struct line {
    _Alignas(CACHE_LINE) word sequence;
    char data[LINE_DATA];
};

struct ring {
    _Alignas(CACHE_LINE) word head; /* bytes written, by the sender */
    _Alignas(CACHE_LINE) word tail; /* bytes read, by the receiver */
    _Alignas(PAGE) char bytes[RING_MAX];
};

/* Index 0: from the parent to the child, 1: back. */
struct shared {
    struct line flips[2], lines[2][LINES];
    struct line arrived[2]; /* a barrier: each process counts its own arrivals */
    _Alignas(CACHE_LINE) long repetitions;
    int cma_refused;
    struct ring rings[2];
};

/* What a process knows; all counters only grow, so nothing is reset between batches. */
struct side {
    int me; /* 0 parent, 1 child */
    pid_t other;
    uint64_t barriers, flips, legs, lines[2], bytes[2];
    size_t size, chunk, ring;
    char *buffer, *copy; /* at the same addresses in both processes */
};

static struct shared *area;

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Longer waits than any healthy one give the core away: on a busy machine the other process may need it. */
static void wait_for(word *w, uint64_t value)
{
    for (int spins = 0; atomic_load_explicit(w, memory_order_acquire) < value; spins++)
        if (spins < SPINS)
            pause_cpu();
        else
            sched_yield();
}

static void publish(word *w, uint64_t value)
{
    atomic_store_explicit(w, value, memory_order_release);
}

static void meet(struct side *s)
{
    publish(&area->arrived[s->me].sequence, ++s->barriers);
    wait_for(&area->arrived[!s->me].sequence, s->barriers);
}

static void flip(struct side *s)
{
    uint64_t turn = ++s->flips;
    if (s->me == 0) {
        publish(&area->flips[0].sequence, turn);
        wait_for(&area->flips[1].sequence, turn);
    } else {
        wait_for(&area->flips[0].sequence, turn);
        publish(&area->flips[1].sequence, turn);
    }
}

/* A message has at most LINES_LIMIT bytes, so a line is not written again before the answer to it has come. */
static void lines_leg(struct side *s, int direction)
{
    for (size_t at = 0; at < s->size; at += LINE_DATA) {
        struct line *l = &area->lines[direction][s->lines[direction]++ % LINES];
        if (direction == s->me) {
            memcpy(l->data, s->buffer + at, LINE_DATA);
            publish(&l->sequence, s->lines[direction]);
        } else {
            wait_for(&l->sequence, s->lines[direction]);
            memcpy(s->buffer + at, l->data, LINE_DATA);
        }
    }
}

static void ring_leg(struct side *s, int direction)
{
    struct ring *r = &area->rings[direction];
    uint64_t *done = &s->bytes[direction];
    for (size_t at = 0; at < s->size; at += s->chunk, *done += s->chunk) {
        size_t part = s->size - at < s->chunk ? s->size - at : s->chunk;
        char *place = r->bytes + *done % s->ring;
        if (direction == s->me) {
            if (*done + s->chunk > s->ring)
                wait_for(&r->tail, *done + s->chunk - s->ring);
            memcpy(place, s->buffer + at, part);
            publish(&r->head, *done + s->chunk);
        } else {
            wait_for(&r->head, *done + s->chunk);
            memcpy(s->buffer + at, place, part);
            publish(&r->tail, *done + s->chunk);
        }
    }
}

static bool copy_between(const struct side *s, bool write, size_t from, size_t to)
{
    while (from < to) {
        struct iovec part = {s->buffer + from, to - from};
        ssize_t n = write ? process_vm_writev(s->other, &part, 1, &part, 1, 0)
                          : process_vm_readv(s->other, &part, 1, &part, 1, 0);
        if (n <= 0)
            return false;
        from += (size_t)n;
    }
    return true;
}

static void cma_leg(struct side *s, int direction)
{
    bool sender = direction == s->me;
    size_t half = s->size / 2;
    if (!copy_between(s, sender, sender ? half : 0, sender ? s->size : half))
        area->cma_refused = 1;
    publish(&area->flips[s->me].sequence, ++s->flips);
    wait_for(&area->flips[!s->me].sequence, s->flips);
}

static void lines_trip(struct side *s) { lines_leg(s, 0), lines_leg(s, 1); }
static void ring_trip(struct side *s) { ring_leg(s, 0), ring_leg(s, 1); }
static void cma_trip(struct side *s) { cma_leg(s, 0), cma_leg(s, 1); }

static void stream(struct side *s)
{
    ring_leg(s, 0);
    if (s->me == 0) /* until the last chunk has been read */
        wait_for(&area->rings[0].tail, s->bytes[0]);
}

static void copy(struct side *s)
{
    if (s->me)
        return;
    memcpy(s->copy, s->buffer, s->size);
    __asm__ volatile("" : : "r"(s->copy) : "memory");
}

/* Samples `step` with both processes in step; only the parent's samples are filled. */
static struct sampler *sample(struct side *s, void (*step)(struct side *), double budget)
{
    static struct sampler samples;
    sampler_start(&samples, budget);
    if (s->me == 0)
        area->repetitions = 1;
    for (;;) {
        meet(s);
        long repetitions = area->repetitions;
        if (!repetitions)
            return &samples;
        double begin = seconds_now();
        for (long i = 0; i < repetitions; i++)
            step(s);
        double took = seconds_now() - begin;
        meet(s);
        if (s->me == 0)
            area->repetitions = sampler_next(&samples, took);
    }
}

static void half_trip(struct side *s, const char *series, void (*step)(struct side *), double budget)
{
    struct sampler *samples = sample(s, step, budget);
    if (s->me == 0)
        print_time("floor", series, (long long)s->size, "us", samples, 1e6 / 2);
}

static void rate(struct side *s, const char *series, long long x, void (*step)(struct side *), double budget)
{
    struct sampler *samples = sample(s, step, budget);
    if (s->me == 0)
        print_rate("floor", series, x, "MB/s", samples, 1e-6 * (double)s->size);
}

/* Both processes switch the rings to a new chunk and ring size; the counters start at a multiple of both. */
static void shape_rings(struct side *s, size_t chunk, size_t ring)
{
    meet(s);
    s->chunk = chunk;
    s->ring = ring;
    for (int direction = 0; direction < 2; direction++) {
        s->bytes[direction] = 0;
        publish(&area->rings[direction].head, 0);
        publish(&area->rings[direction].tail, 0);
    }
    meet(s);
}

static void measure_all(struct side *s, const struct options *o)
{
    s->size = 8;
    half_trip(s, "flip", flip, o->seconds);
    for (int i = 0; i < o->count; i++) {
        s->size = (size_t)o->points[i];
        if (s->size <= LINES_LIMIT)
            half_trip(s, "lines", lines_trip, o->seconds);
        bool large = s->size > 262144;
        shape_rings(s, large ? 32768 : 16384, large ? RING_MAX : 262144);
        half_trip(s, "ring", ring_trip, o->seconds);
        if (s->size >= CMA_FROM && !area->cma_refused)
            half_trip(s, "cma", cma_trip, o->seconds);
        rate(s, "memcpy", o->points[i], copy, o->seconds);
    }
    for (size_t chunk = 1024; chunk <= 32768; chunk *= 2) {
        s->size = STREAM_BYTES;
        shape_rings(s, chunk, 262144);
        rate(s, "stream", (long long)chunk, stream, o->seconds);
    }
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set)) {
        perror("sched_setaffinity");
        _exit(1);
    }
}

static void choose_cpus(int cpus[2])
{
    cpu_set_t set;
    int found = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &set))
            cpus[found++] = i;
    if (found < 2) {
        fprintf(stderr, "floor: needs two processors\n");
        exit(1);
    }
}

/* Without it, the parent would wait for ever for a child that died. */
static void child_died(int number)
{
    (void)number;
    _exit(1);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes", "8,64,256,1K,4K,16K,64K,256K,1M,4M", 0.1);
    struct side s = {0};
    size_t largest = STREAM_BYTES;
    if (o.cpus[0] < 0)
        choose_cpus(o.cpus);
    for (int i = 0; i < o.count; i++)
        largest = (size_t)o.points[i] > largest ? (size_t)o.points[i] : largest;
    area = mmap(0, sizeof *area, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return perror("floor"), 1;
    memset(area, 0, sizeof *area);
    s.buffer = pages(largest);
    s.copy = pages(largest);
    printf("{\"bench\":\"floor\",\"ranks\":2,\"library\":\"none\",\"processors\":[\"%d\",\"%d\"]}\n", o.cpus[0],
           o.cpus[1]);
    fflush(stdout);
    signal(SIGCHLD, child_died);
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        return perror("floor"), 1;
    s.me = child == 0;
    s.other = s.me ? parent : child;
    if (s.me)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(o.cpus[s.me]);
    memset(s.buffer, s.me + 1, largest);
    measure_all(&s, &o);
    if (s.me == 0)
        signal(SIGCHLD, SIG_DFL);
    meet(&s);
    if (s.me)
        _exit(0);
    if (area->cma_refused)
        fprintf(stderr, "floor: this kernel refuses process_vm_readv or process_vm_writev between siblings\n");
    return waitpid(child, 0, 0) == child ? 0 : 1;
}
