/* one-sided: time of an access of N ints by rank 0 to rank 1 and of the flush that completes it, on a window of MPI_Win_allocate
 * and on one of MPI_Win_create. Of MPI_Fetch_and_op, which takes one element, there are N calls and one flush. Rank 1 waits in MPI
 * meanwhile, so that libraries whose target has to help are not stopped. Each access is checked once before it is measured. */
#include "ranks.h"

struct access {
    MPI_Win win;
    int count;
    int *values, *results; /* the origin's buffers */
    int *part;             /* the target's memory */
};

typedef void operation(struct access *a);

static void put(struct access *a)
{
    MPI_Put(a->values, a->count, MPI_INT, 1, 0, a->count, MPI_INT, a->win);
}

static void get(struct access *a)
{
    MPI_Get(a->results, a->count, MPI_INT, 1, 0, a->count, MPI_INT, a->win);
}

static void accumulate(struct access *a)
{
    MPI_Accumulate(a->values, a->count, MPI_INT, 1, 0, a->count, MPI_INT, MPI_SUM, a->win);
}

static void get_accumulate(struct access *a)
{
    MPI_Get_accumulate(a->values, a->count, MPI_INT, a->results, a->count, MPI_INT, 1, 0, a->count, MPI_INT, MPI_SUM, a->win);
}

static void fetch_and_op(struct access *a)
{
    for (int i = 0; i < a->count; i++)
        MPI_Fetch_and_op(&a->values[i], &a->results[i], MPI_INT, 1, i, MPI_SUM, a->win);
}

/* An access: whether it writes the target, adds to what is there, and returns what was there. */
struct kind {
    const char *name;
    operation *operation;
    bool writes, adds, returns;
};

static const struct kind kinds[] = {
    {"put", put, true, false, false},
    {"get", get, false, false, true},
    {"accumulate", accumulate, true, true, false},
    {"get-accumulate", get_accumulate, true, true, true},
    {"fetch-and-op", fetch_and_op, true, true, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct work {
    const struct kind *kind;
    struct access *access;
};

static void repeat(void *state, long repetitions)
{
    struct work *w = state;
    if (my_rank)
        return;
    for (long i = 0; i < repetitions; i++) {
        w->kind->operation(w->access);
        MPI_Win_flush(1, w->access->win);
    }
}

static int value(int i) { return 3 * i + 1; }
static int before(int i) { return 5 * i - 2; }

static void meet(struct access *a)
{
    MPI_Win_sync(a->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(a->win);
}

static void check(const struct kind *kind, struct access *a)
{
    for (int i = 0; i < a->count; i++) {
        a->part[i] = before(i);
        a->values[i] = value(i);
        a->results[i] = 0;
    }
    meet(a);
    repeat(&(struct work){kind, a}, 1);
    meet(a);
    for (int i = 0; i < a->count; i++) {
        int left = kind->writes ? value(i) + (kind->adds ? before(i) : 0) : before(i);
        if (my_rank && a->part[i] != left)
            fail("one-sided: %s: element %d at the target is %d", kind->name, i, a->part[i]);
        if (!my_rank && kind->returns && a->results[i] != before(i))
            fail("one-sided: %s: element %d that came back is %d", kind->name, i, a->results[i]);
    }
}

static void all_kinds(const char *window, struct access *a, double seconds)
{
    static struct sampler s;
    char series[64];
    MPI_Win_lock_all(0, a->win);
    for (int i = 0; i < KINDS; i++) {
        check(&kinds[i], a);
        struct work work = {&kinds[i], a};
        measure(repeat, &work, seconds, &s);
        snprintf(series, sizeof series, "%s-%s", window, kinds[i].name);
        if (my_rank == 0)
            print_time("one-sided", series, a->count, "us", &s, 1e6);
    }
    MPI_Win_unlock_all(a->win);
    MPI_Win_free(&a->win);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "elements", "1,64,4K,256K", 0.1);
    start(&argc, &argv, "one-sided", MPI_THREAD_SINGLE, 2);
    for (int p = 0; p < o.count; p++) {
        struct access a = {.count = (int)o.points[p]};
        size_t bytes = (size_t)a.count * sizeof(int);
        a.values = pages(bytes);
        a.results = pages(bytes);
        MPI_Win_allocate((MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &a.part, &a.win);
        all_kinds("allocate", &a, o.seconds);
        a.part = pages(bytes);
        MPI_Win_create(a.part, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &a.win);
        all_kinds("create", &a, o.seconds);
        free(a.part);
        free(a.values);
        free(a.results);
    }
    MPI_Finalize();
    return 0;
}
