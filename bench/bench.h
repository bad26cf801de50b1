/* What every benchmark here shares, with no MPI in it: the clock, the options, how repetitions are chosen and sampled,
 * and the one line of JSON that each measured point prints.
 *
 * A point is measured in batches. The repetitions of a batch grow until it lasts a fixed share of the point's time
 * budget (these batches warm caches, pools and connections, and are dropped), then up to BATCHES_MAX batches are
 * sampled. A first repetition that takes ENOUGH times the budget is kept as the only sample. What passes between batches, while
 * the ranks meet, is no part of a sample; where it is long (a loaded machine), sampling ends ENOUGH times the budget after it began. */
#ifndef WEFT_BENCH_H
#define WEFT_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES_MIN = 3, BATCHES_MAX = 101, ENOUGH = 10, SAMPLES_MAX = 4096, POINTS_MAX = 64, CACHE_LINE = 64, PAGE = 4096 };

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64: the same sequence everywhere, so that every library sees the same data and the same shuffles. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline void random_fill(void *to, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)random_next(&seed);
}

static inline void *pages(size_t bytes)
{
    void *p = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE + PAGE);
    if (!p) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

/* ---- options ---- */

struct options {
    double seconds; /* time budget of one point */
    long long points[POINTS_MAX];
    int count;
    int cpus[2]; /* `floor` only: where its two processes run; -1: it chooses */
    bool bare;   /* `startup` only: initialise and finalise, measure nothing */
    const char *folder; /* `file` and `file-patterns` only: where their file is */
    /* `patterns` only, which says what they mean */
    const char *operations;
    long long off_cache, offset;
    bool first_use, with_barrier;
};

static inline void usage(const char *program, const char *list)
{
    fprintf(stderr,
            "usage: %s [--%s N,N,...] [--max N] [--seconds S]\n"
            "  --%s     points to measure; K and M stand for 2^10 and 2^20\n"
            "  --max       leave out points above this\n"
            "  --seconds   time to spend on each point\n",
            program, list, list);
    exit(2);
}

/* Reads `64K` and leaves `text` behind it; false where there is no such number. */
static inline bool read_number(const char **text, long long *value)
{
    char *end;
    *value = strtoll(*text, &end, 10);
    if (end == *text || *value < 0)
        return false;
    if (*end == 'K' || *end == 'M')
        *value <<= *end++ == 'K' ? 10 : 20;
    *text = end;
    return true;
}

/* Reads `1,64K,4M` into the points; false where the text is no such list. */
static inline bool read_list(struct options *o, const char *text)
{
    for (o->count = 0; o->count < POINTS_MAX; text++) {
        if (!read_number(&text, &o->points[o->count++]))
            return false;
        if (!*text)
            return true;
        if (*text != ',')
            return false;
    }
    return false;
}

static inline bool read_bytes(const char *text, long long *bytes)
{
    return read_number(&text, bytes) && !*text;
}

/* `list` names the option that gives the points ("sizes", "n", "threads"); `points` and `seconds` are the defaults. */
static inline struct options read_options(int argc, char **argv, const char *list, const char *points, double seconds)
{
    const struct option known[] = {{list, required_argument, 0, 'l'},
                                   {"max", required_argument, 0, 'm'},
                                   {"seconds", required_argument, 0, 's'},
                                   {"bare", no_argument, 0, 'b'},
                                   {"cpus", required_argument, 0, 'c'},
                                   {"folder", required_argument, 0, 'd'},
                                   {"operations", required_argument, 0, 'o'},
                                   {"off-cache", required_argument, 0, 'r'},
                                   {"offset", required_argument, 0, 'f'},
                                   {"first-use", no_argument, 0, 'u'},
                                   {"with-barrier", no_argument, 0, 'w'},
                                   {0, 0, 0, 0}};
    struct options o = {.seconds = seconds, .cpus = {-1, -1}, .folder = "."};
    long long max = INT64_MAX;
    int c;
    read_list(&o, points);
    while ((c = getopt_long(argc, argv, "", known, 0)) != -1)
        if (c == 'm')
            max = atoll(optarg);
        else if (c == 's')
            o.seconds = atof(optarg);
        else if (c == 'b')
            o.bare = true;
        else if (c == 'd')
            o.folder = optarg;
        else if (c == 'o')
            o.operations = optarg;
        else if (c == 'u')
            o.first_use = true;
        else if (c == 'w')
            o.with_barrier = true;
        else if ((c == 'r' && read_bytes(optarg, &o.off_cache)) || (c == 'f' && read_bytes(optarg, &o.offset)))
            continue;
        else if (c == 'c' && sscanf(optarg, "%d,%d", &o.cpus[0], &o.cpus[1]) == 2)
            continue;
        else if (c != 'l' || !read_list(&o, optarg))
            usage(argv[0], list);
    int kept = 0;
    for (int i = 0; i < o.count; i++)
        if (o.points[i] <= max)
            o.points[kept++] = o.points[i];
    o.count = kept;
    return o;
}

/* ---- sampling ---- */

struct sampler {
    double budget, spent; /* seconds */
    double warm_since;    /* on the clock */
    long repetitions;
    bool warm;
    int count;
    double samples[SAMPLES_MAX]; /* seconds a repetition, or whatever sample_add was given */
};

static inline void sampler_start(struct sampler *s, double budget)
{
    s->budget = budget;
    s->spent = 0;
    s->warm_since = 0;
    s->repetitions = 1;
    s->warm = false;
    s->count = 0;
}

static inline void sample_add(struct sampler *s, double value)
{
    if (s->count < SAMPLES_MAX)
        s->samples[s->count++] = value;
}

/* Takes the seconds that a batch of s->repetitions took; returns the repetitions of the next batch, 0 for the end. */
static inline long sampler_next(struct sampler *s, double seconds)
{
    double share = s->budget / BATCHES_MAX;
    s->spent += seconds;
    if (!s->warm) {
        if (s->repetitions == 1 && seconds > ENOUGH * s->budget) {
            sample_add(s, seconds);
            return 0;
        }
        if (seconds < share / 2) {
            double factor = seconds > 0 ? share / seconds : 10;
            s->repetitions = (long)((double)s->repetitions * (factor > 10 ? 10 : factor)) + 1;
            return s->repetitions;
        }
        s->warm = true;
        s->spent = 0;
        s->warm_since = seconds_now();
        return s->repetitions;
    }
    if (seconds < share / 4) { /* an interruption of a warm-up batch had made it look long enough */
        s->warm = false;
        s->count = 0;
        return sampler_next(s, seconds);
    }
    sample_add(s, seconds / (double)s->repetitions);
    bool over = s->spent > s->budget || seconds_now() - s->warm_since > ENOUGH * s->budget;
    if (s->count >= BATCHES_MAX || (s->count >= BATCHES_MIN && over))
        return 0;
    return s->repetitions;
}

/* ---- results ---- */

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The sampled best, median and 90th percentile, in seconds. */
struct spread {
    double best, median, p90;
};

static inline struct spread spread_of(struct sampler *s)
{
    qsort(s->samples, (size_t)s->count, sizeof *s->samples, by_value);
    return (struct spread){s->samples[0], s->samples[s->count / 2], s->samples[(s->count - 1) * 9 / 10]};
}

static inline void print_spread(const char *bench, const char *series, long long x, const char *unit,
                                struct spread v, int batches)
{
    printf("{\"bench\":\"%s\",\"series\":\"%s\",\"x\":%lld,\"unit\":\"%s\",\"best\":%.6g,\"median\":%.6g,"
           "\"p90\":%.6g,\"batches\":%d}\n",
           bench, series, x, unit, v.best, v.median, v.p90, batches);
    fflush(stdout);
}

/* Prints a point whose samples are times: `per_second` is the number of units in a second. */
static inline void print_time(const char *bench, const char *series, long long x, const char *unit, struct sampler *s,
                              double per_second)
{
    struct spread v = spread_of(s);
    v = (struct spread){v.best * per_second, v.median * per_second, v.p90 * per_second};
    print_spread(bench, series, x, unit, v, s->count);
}

/* Prints a point as a rate: `amount` units were done in the time of each sample. */
static inline void print_rate(const char *bench, const char *series, long long x, const char *unit, struct sampler *s,
                              double amount)
{
    struct spread v = spread_of(s);
    v = (struct spread){amount / v.best, amount / v.median, amount / v.p90};
    print_spread(bench, series, x, unit, v, s->count);
}

/* The processors this process may run on, as `0` or `0-1,4`. */
static inline void processors(char *text, size_t room)
{
    cpu_set_t set;
    size_t used = 0;
    text[0] = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int i = 0; i < CPU_SETSIZE && used + 16 < room; i++)
        if (CPU_ISSET(i, &set)) {
            int first = i;
            while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, &set))
                i++;
            used += (size_t)snprintf(text + used, room - used, first == i ? "%s%d" : "%s%d-%d", used ? "," : "", first, i);
        }
}
#endif
