/* For the kill battery: two processes exchange all operations without end, until one of them is killed. It says
 * `pids PARENT CHILD` when both are connected. The survivor demands an error within the queue pair's time-out, the flush of
 * all that it had posted, and that its device still works; then it says `survived` and ends with 0. */
#include "process.h"

enum { DEPTH = 16, LARGE = 200000 };

static const struct options brisk = {
    .type = IBV_QPT_RC,
    .depth = DEPTH,
    .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    .cq_entries = 4 * DEPTH,
    .timeout = 12,
    .retry = 6,
    .rnr_retry = 7,
    .rnr_timer = 1,
};

/* Queued and not yet completed. */
static int sends, receives;

static void fill_queues(struct side *side, const struct card *peer, unsigned *number)
{
    static const int opcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};
    for (; receives < DEPTH; receives++)
        REQUIRE(receive(side, 0, 0, 4096) == 0, "receive");
    for (; sends < DEPTH; sends++) {
        int opcode = opcodes[++*number % 4];
        uint32_t bytes = opcode == IBV_WR_SEND ? 64 : opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : LARGE;
        struct ibv_sge sge = piece(side, 4096, *number % 3 && bytes == LARGE ? 100 : bytes);
        struct ibv_send_wr wr = request_to(&sge, peer, 1, opcode);
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            wr.wr.atomic.remote_addr = peer->address;
            wr.wr.atomic.rkey = peer->rkey;
            wr.wr.atomic.compare_add = 1;
        }
        REQUIRE(post_one(side, &wr) == 0, "post");
    }
}

/* Takes completions; the first status that is not success. */
static enum ibv_wc_status drain(struct side *side)
{
    struct ibv_wc wc;
    enum ibv_wc_status status = IBV_WC_SUCCESS;
    while (ibv_poll_cq(side->send_cq, 1, &wc) > 0) {
        sends--;
        if (!status)
            status = wc.status;
    }
    while (ibv_poll_cq(side->receive_cq, 1, &wc) > 0) {
        receives--;
        if (!status)
            status = wc.status;
    }
    return status;
}

static void still_works(struct world *world)
{
    struct side sides[2];
    world->peer_gid = world->gid;
    world->peer_lid = world->port.lid;
    pair_open(world, sides, &brisk);
    REQUIRE(receive(&sides[1], 1, 0, 64) == 0 && post(&sides[0], &sides[1], 2, IBV_WR_SEND, 0, 8) == 0, "post");
    expect(sides[0].send_cq, 2, IBV_WC_SUCCESS);
    expect(sides[1].receive_cq, 1, IBV_WC_SUCCESS);
    pair_close(sides);
}

int main(void)
{
    struct world world;
    struct side side;
    unsigned number = 0;
    int stream, parent = getpid(), child = part(&stream);
    char byte = 'r';
    world_open(&world);
    side_open(&world, &side, &brisk);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &brisk, peer.qp_num);
    tell(stream, &byte, 1);
    hear(stream, &byte, 1);
    if (child) {
        printf("pids %d %d\n", parent, child);
        fflush(stdout);
    }
    enum ibv_wc_status status;
    long last = now_ms(), died = 0;
    do {
        fill_queues(&side, &peer, &number);
        status = drain(&side);
        /* The stream's end tells when the other process died. */
        if (!died && recv(stream, &byte, 1, MSG_DONTWAIT) == 0)
            died = now_ms();
        REQUIRE(!died || now_ms() - died < 3000, "no error %ld ms after the peer's death", now_ms() - died);
        if (now_ms() - last > 20) /* on two cores there are others */
            usleep(1000), last = now_ms();
    } while (!status);
    REQUIRE(recv(stream, &byte, 1, 0) == 0, "%s while the peer lives", ibv_wc_status_str(status));
    REQUIRE(status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR, "%s", ibv_wc_status_str(status));
    for (long end = now_ms() + 3000; sends || receives; drain(&side))
        REQUIRE(now_ms() < end, "%d sends and %d receives were not flushed", sends, receives);
    still_works(&world);
    side_close(&side);
    world_close(&world);
    printf("survived\n");
    fflush(stdout);
    if (child)
        waitpid(child, NULL, 0);
    return 0;
}
