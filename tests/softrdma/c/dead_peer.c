/* A peer that dies: the request that waits for it, and the next one, end with "transport retry counter exceeded" within the
 * queue pair's time-out, and what follows is flushed. */
#include "process.h"

/* How the target ends, and whether the initiator's send already waits for a receive. */
static void die(int how, int waiting)
{
    struct world world;
    struct side side;
    int stream, child = part(&stream);
    char ready;
    struct options options = usual;
    options.timeout = 14;
    options.retry = 6; /* rxe takes 7 for "for ever" */
    world_open(&world);
    side_open(&world, &side, &options);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &options, peer.qp_num);
    if (!child) {
        tell(stream, "r", 1);
        if (how == 0)
            pause();
        _exit(0);
    }
    hear(stream, &ready, 1);
    struct ibv_sge sge = piece(&side, 0, 8);
    struct ibv_send_wr send = request_to(&sge, &peer, 1, IBV_WR_SEND);
    struct ibv_send_wr write = request_to(&sge, &peer, 2, IBV_WR_RDMA_WRITE);
    if (waiting) {
        REQUIRE(post_one(&side, &send) == 0, "send");
        usleep(20000);
    }
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, NULL, 0) == child, "wait");
    long begin = now_ms();
    REQUIRE(post_one(&side, &write) == 0, "write");
    if (waiting) {
        struct ibv_wc wc;
        REQUIRE(completion(side.send_cq, &wc, PATIENCE_MS), "no completion of the send");
        REQUIRE(wc.wr_id == 1 && wc.status == IBV_WC_RETRY_EXC_ERR, "send: %s", ibv_wc_status_str(wc.status));
        expect(side.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
    } else {
        expect(side.send_cq, 2, IBV_WC_RETRY_EXC_ERR);
    }
    /* 4.096 us x 2^14 x (6 + 1 tries) = 0.47 s; adapters may take up to four times as long (§9.7.6.1.3). */
    REQUIRE(now_ms() - begin < 4 * 470 + 1000, "%ld ms", now_ms() - begin);
    REQUIRE(state_of(side.qp) == IBV_QPS_ERR, "state");
    REQUIRE(post_one(&side, &write) == 0, "write");
    expect(side.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
    side_close(&side);
    world_close(&world);
}

int main(void)
{
    die(0, 0);
    die(0, 1);
    die(1, 0);
    return ok("dead_peer");
}
