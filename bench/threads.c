/* threads: message rate of T threads on each of two ranks, thread t of rank 0 sending to thread t of rank 1: windows
 * of 64 messages of 8 bytes, each window acknowledged. `tags`: one communicator, thread t uses tag t. `hints`: the same,
 * and the communicator is made with the promise that no wildcards are used. `comms`: thread t has its own communicator. */
#include "ranks.h"
#include <pthread.h>

enum { WINDOW = 64, THREADS_MAX = 64 };

struct worker {
    struct team *team;
    pthread_t thread;
    MPI_Comm comm;
    int tag;
    uint64_t next; /* value of the next message; both sides count alike */
};

struct team {
    struct worker workers[THREADS_MAX];
    int count;
    pthread_barrier_t begin, end;
    long windows; /* of the coming batch, 0 when the workers shall leave; written between two barriers only */
};

static void send_window(struct worker *w)
{
    uint64_t values[WINDOW];
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        values[i] = w->next++;
        MPI_Isend(&values[i], sizeof values[i], MPI_BYTE, 1, w->tag, w->comm, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(0, 0, MPI_BYTE, 1, w->tag, w->comm, MPI_STATUS_IGNORE);
}

static void receive_window(struct worker *w)
{
    uint64_t values[WINDOW];
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(&values[i], sizeof values[i], MPI_BYTE, 0, w->tag, w->comm, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WINDOW; i++)
        if (values[i] != w->next++)
            fail("threads: thread %d got message %llu out of order", w->tag, (unsigned long long)values[i]);
    MPI_Send(0, 0, MPI_BYTE, 0, w->tag, w->comm);
}

static void work_batch(struct worker *w)
{
    for (long i = 0; i < w->team->windows; i++)
        if (my_rank == 0)
            send_window(w);
        else
            receive_window(w);
}

static void *worker_main(void *state)
{
    struct worker *w = state;
    for (;;) {
        pthread_barrier_wait(&w->team->begin);
        if (!w->team->windows)
            return 0;
        work_batch(w);
        pthread_barrier_wait(&w->team->end);
    }
}

/* The calling thread is the team's first worker. */
static void work_together(void *state, long repetitions)
{
    struct team *team = state;
    team->windows = repetitions;
    pthread_barrier_wait(&team->begin);
    work_batch(&team->workers[0]);
    pthread_barrier_wait(&team->end);
}

/* A communicator of its own for each thread, or one for all. */
static void point(const char *series, int threads, const MPI_Comm *comms, bool own_comms, double seconds)
{
    static struct sampler s;
    static struct team team;
    team.count = threads;
    pthread_barrier_init(&team.begin, 0, (unsigned)threads);
    pthread_barrier_init(&team.end, 0, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        struct worker *w = &team.workers[i];
        *w = (struct worker){.team = &team, .comm = comms[own_comms ? i : 0], .tag = i};
        if (i && pthread_create(&w->thread, 0, worker_main, w))
            fail("threads: cannot start thread %d", i);
    }
    measure(work_together, &team, seconds, &s);
    team.windows = 0;
    pthread_barrier_wait(&team.begin);
    for (int i = 1; i < threads; i++)
        pthread_join(team.workers[i].thread, 0);
    pthread_barrier_destroy(&team.begin);
    pthread_barrier_destroy(&team.end);
    if (my_rank == 0)
        print_rate("threads", series, threads, "Mmsg/s", &s, 1e-6 * WINDOW * threads);
}

/* MPI-5.0 §7.4.4. */
static MPI_Comm without_wildcards(void)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "threads", "1,2,4,8", 1);
    MPI_Comm comms[THREADS_MAX];
    start(&argc, &argv, "threads", MPI_THREAD_MULTIPLE, 2);
    for (int i = 0; i < o.count; i++) {
        int threads = (int)o.points[i];
        if (threads < 1 || threads > THREADS_MAX)
            fail("threads: from 1 to %d threads", THREADS_MAX);
        comms[0] = MPI_COMM_WORLD;
        point("tags", threads, comms, false, o.seconds);
        comms[0] = without_wildcards();
        point("hints", threads, comms, false, o.seconds);
        MPI_Comm_free(&comms[0]);
        for (int j = 0; j < threads; j++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[j]);
        point("comms", threads, comms, true, o.seconds);
        for (int j = 0; j < threads; j++)
            MPI_Comm_free(&comms[j]);
    }
    MPI_Finalize();
    return 0;
}
