/* Rates of 2-byte writes in lists of 32 into another process's ibv_alloc_buf memory: one thread; two threads with a queue
 * pair each, each in a thread domain; two threads that share one queue pair. For tests/softrdma/measure.py. */
#include "process.h"

#include <dlfcn.h>
#include <pthread.h>

struct ibv_buf;

enum { LIST = 32, DEPTH = 256, SECONDS = 1, QPS = 3, IN_DOMAIN = 2 };

static void *(*alloc_buf)(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
static struct ibv_mr *(*reg_buf_mr)(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access);

static struct options options;

/* A side on `pd` whose memory is the library's own. */
static void open_on(struct world *world, struct ibv_pd *pd, struct side *side)
{
    struct world inside = *world;
    struct ibv_buf *buf;
    inside.pd = pd;
    side_open(&inside, side, &options);
    side->world = world;
    side->buffer = alloc_buf(world->pd, BUFFER, &buf);
    REQUIRE(side->buffer, "alloc_buf");
    side->mr = reg_buf_mr(world->pd, buf, side->buffer, BUFFER, usual.access);
    REQUIRE(side->mr, "reg_buf_mr");
}

static void target(int stream)
{
    struct world world;
    struct side sides[QPS];
    char end;
    world_open(&world);
    for (int i = 0; i < QPS; i++) {
        open_on(&world, world.pd, &sides[i]);
        struct card peer = exchange(stream, &sides[i], 0);
        connect_to(&sides[i], &options, peer.qp_num);
    }
    tell(stream, "r", 1);
    hear(stream, &end, 1);
}

struct job {
    struct side *side;
    struct card peer;
    int shared;
    long posted;
};

/* Posts lists, the last of each signalled, as long as the time is not over. With a shared queue pair any thread may take any
 * thread's completion: only their number counts. */
static void *run(void *argument)
{
    struct job *job = argument;
    struct ibv_sge sge = piece(job->side, 0, 2);
    struct ibv_send_wr list[LIST], *bad;
    for (int i = 0; i < LIST; i++) {
        list[i] = request_to(&sge, &job->peer, i, IBV_WR_RDMA_WRITE);
        list[i].send_flags = i == LIST - 1 ? IBV_SEND_SIGNALED : 0;
        list[i].next = i == LIST - 1 ? NULL : &list[i + 1];
    }
    /* Two threads together may not post more than the queue holds. */
    int room = DEPTH / LIST / (job->shared ? 2 : 1), waiting = 0;
    for (long end = now_ms() + SECONDS * 1000; now_ms() < end;) {
        for (; waiting < room; waiting++, job->posted += LIST)
            if (ibv_post_send(job->side->qp, list, &bad))
                break;
        struct ibv_wc wc[8];
        int found = ibv_poll_cq(job->side->send_cq, 8, wc);
        REQUIRE(found >= 0 && (!found || wc[0].status == IBV_WC_SUCCESS), "%d", found);
        waiting = found > waiting ? 0 : waiting - found;
    }
    return NULL;
}

/* With `count` threads on the queue pairs from `sides` on, or all on the first one. */
static double rate(struct side *sides, const struct card *cards, int count, int shared)
{
    struct job jobs[2];
    pthread_t threads[2];
    for (int i = 0; i < count; i++)
        jobs[i] = (struct job){&sides[shared ? 0 : i], cards[shared ? 0 : i], shared, 0};
    for (int i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], NULL, run, &jobs[i]) == 0, "thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    /* What was still on the way is taken before the next measurement. */
    struct ibv_wc wc[64];
    for (int i = 0; i < count; i++)
        for (long end = now_ms() + 20; now_ms() < end;)
            ibv_poll_cq(jobs[i].side->send_cq, 64, wc);
    return (double)(jobs[0].posted + (count == 2 ? jobs[1].posted : 0)) / SECONDS / 1e6;
}

int main(void)
{
    struct world world;
    struct side sides[QPS];
    struct card cards[QPS];
    int stream, child = part(&stream);
    char ready;
    *(void **)&alloc_buf = dlsym(RTLD_DEFAULT, "ibv_alloc_buf");
    *(void **)&reg_buf_mr = dlsym(RTLD_DEFAULT, "ibv_reg_buf_mr");
    if (!alloc_buf || !reg_buf_mr)
        unsupported("ibv_alloc_buf");
    options = usual;
    options.depth = DEPTH;
    options.cq_entries = 2 * DEPTH;
    if (!child) {
        target(stream);
        return 0;
    }
    world_open(&world);
    for (int i = 0; i < QPS; i++) {
        struct ibv_td_init_attr plain = {0};
        struct ibv_parent_domain_init_attr with = {.pd = world.pd, .td = ibv_alloc_td(world.context, &plain)};
        struct ibv_pd *parent = ibv_alloc_parent_domain(world.context, &with);
        REQUIRE(with.td && parent, "thread domain");
        open_on(&world, i < IN_DOMAIN ? parent : world.pd, &sides[i]);
        cards[i] = exchange(stream, &sides[i], 0);
        connect_to(&sides[i], &options, cards[i].qp_num);
    }
    hear(stream, &ready, 1);
    printf("one_thread_m_s %.2f\n", rate(sides, cards, 1, 0));
    printf("two_queue_pairs_m_s %.2f\n", rate(sides, cards, 2, 0));
    printf("one_shared_queue_pair_m_s %.2f\n", rate(&sides[IN_DOMAIN], &cards[IN_DOMAIN], 2, 1));
    tell(stream, "e", 1);
    join_child(child);
    return 0;
}
