/* one-sided-threads: puts, gets and fetch-and-ops of 8 bytes by T threads of rank 0 at rank 1, all on one window that is locked once
 * for all; each thread flushes after BATCH of them and has places of its own. Rank 1 waits in MPI meanwhile, so that
 * libraries whose target has to help are not stopped. */
#include "ranks.h"
#include <pthread.h>

enum { BATCH = 64, THREADS_MAX = 64 };

struct worker {
    struct team *team;
    pthread_t thread;
    int64_t first; /* element of its part at the target */
    int64_t values[BATCH];
};

typedef void operation(struct worker *w, int i);

struct team {
    struct worker workers[THREADS_MAX];
    pthread_barrier_t begin, end;
    MPI_Win win;
    operation *operation;
    long batches; /* of the coming round, 0 when the workers shall leave; written between two barriers only */
};

static void put(struct worker *w, int i)
{
    MPI_Put(&w->values[i], 1, MPI_INT64_T, 1, w->first + i, 1, MPI_INT64_T, w->team->win);
}

static void get(struct worker *w, int i)
{
    MPI_Get(&w->values[i], 1, MPI_INT64_T, 1, w->first + i, 1, MPI_INT64_T, w->team->win);
}

static void fetch_and_op(struct worker *w, int i)
{
    static const int64_t one = 1;
    MPI_Fetch_and_op(&one, &w->values[i], MPI_INT64_T, 1, w->first + i, MPI_SUM, w->team->win);
}

static void work_batches(struct worker *w)
{
    for (long batch = 0; batch < w->team->batches; batch++) {
        for (int i = 0; i < BATCH; i++)
            w->team->operation(w, i);
        MPI_Win_flush(1, w->team->win);
    }
}

static void *worker_main(void *state)
{
    struct worker *w = state;
    for (;;) {
        pthread_barrier_wait(&w->team->begin);
        if (!w->team->batches)
            return 0;
        work_batches(w);
        pthread_barrier_wait(&w->team->end);
    }
}

/* The calling thread is the team's first worker. */
static void work_together(void *state, long repetitions)
{
    struct team *team = state;
    if (my_rank)
        return;
    team->batches = repetitions;
    pthread_barrier_wait(&team->begin);
    work_batches(&team->workers[0]);
    pthread_barrier_wait(&team->end);
}

/* What the last operations have left at the target, or brought from there. */
static void check(struct team *team, int threads, const int64_t *part, bool brought)
{
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < BATCH; i++) {
            int64_t wanted = (int64_t)t * BATCH + i, found = my_rank ? part[wanted] : team->workers[t].values[i];
            if ((my_rank == 1 || brought) && found != wanted)
                fail("one-sided-threads: element %d of thread %d is %lld", i, t, (long long)found);
        }
}

static void point(struct team *team, const char *series, operation *operation, int threads, double seconds)
{
    static struct sampler s;
    team->operation = operation;
    if (my_rank == 0) {
        pthread_barrier_init(&team->begin, 0, (unsigned)threads);
        pthread_barrier_init(&team->end, 0, (unsigned)threads);
        for (int i = 1; i < threads; i++)
            if (pthread_create(&team->workers[i].thread, 0, worker_main, &team->workers[i]))
                fail("one-sided-threads: cannot start thread %d", i);
    }
    measure(work_together, team, seconds, &s);
    MPI_Win_flush_all(team->win);
    if (my_rank)
        return;
    team->batches = 0;
    pthread_barrier_wait(&team->begin);
    for (int i = 1; i < threads; i++)
        pthread_join(team->workers[i].thread, 0);
    pthread_barrier_destroy(&team->begin);
    pthread_barrier_destroy(&team->end);
    print_rate("one-sided-threads", series, threads, "Mop/s", &s, 1e-6 * BATCH * threads);
}

static void all_operations(int threads, double seconds)
{
    static struct team team;
    int64_t *part;
    MPI_Win_allocate((MPI_Aint)THREADS_MAX * BATCH * (MPI_Aint)sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &part, &team.win);
    memset(part, 0, THREADS_MAX * BATCH * sizeof *part);
    for (int t = 0; t < threads; t++) {
        struct worker *w = &team.workers[t];
        *w = (struct worker){.team = &team, .first = (int64_t)t * BATCH};
        for (int i = 0; i < BATCH; i++)
            w->values[i] = w->first + i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, team.win);
    point(&team, "put", put, threads, seconds);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(team.win);
    check(&team, threads, part, false);
    for (int t = 0; t < threads; t++)
        memset(team.workers[t].values, 0, sizeof team.workers[t].values);
    point(&team, "get", get, threads, seconds);
    check(&team, threads, part, true);
    MPI_Barrier(MPI_COMM_WORLD);
    point(&team, "fetch-and-op", fetch_and_op, threads, seconds);
    MPI_Win_unlock_all(team.win);
    MPI_Win_free(&team.win);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "threads", "1,2,4", 0.5);
    start(&argc, &argv, "one-sided-threads", MPI_THREAD_MULTIPLE, 2);
    for (int i = 0; i < o.count; i++) {
        int threads = (int)o.points[i];
        if (threads < 1 || threads > THREADS_MAX)
            fail("one-sided-threads: from 1 to %d threads", THREADS_MAX);
        all_operations(threads, o.seconds);
    }
    MPI_Finalize();
    return 0;
}
