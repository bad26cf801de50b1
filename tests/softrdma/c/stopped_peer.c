/* One-sided operations complete while the target is stopped by SIGSTOP: no code of its process takes part. */
#include "process.h"

enum { ROUNDS = 100, BIG = 500000 };

static void target(int stream)
{
    struct world world;
    struct side side;
    char go;
    world_open(&world);
    side_open(&world, &side, &usual);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    tell(stream, "r", 1);
    hear(stream, &go, 1);
    REQUIRE(*(uint64_t *)(side.buffer + 8) == ROUNDS, "additions");
    side_close(&side);
    world_close(&world);
}

static void operate(struct side *side, const struct card *peer)
{
    struct ibv_sge word = piece(side, 0, 8), big = piece(side, 4096, BIG);
    for (int round = 0; round < ROUNDS; round++) {
        side->buffer[4096 + round] = (char)round;
        struct ibv_send_wr write = request_to(&big, peer, 1, IBV_WR_RDMA_WRITE);
        write.wr.rdma.remote_addr += 4096;
        struct ibv_send_wr add = request_to(&word, peer, 2, IBV_WR_ATOMIC_FETCH_AND_ADD);
        add.wr.atomic.remote_addr = peer->address + 8;
        add.wr.atomic.rkey = peer->rkey;
        add.wr.atomic.compare_add = 1;
        struct ibv_send_wr read = request_to(&big, peer, 3, IBV_WR_RDMA_READ);
        read.wr.rdma.remote_addr += 4096;
        write.next = &add;
        add.next = &read;
        REQUIRE(post_one(side, &write) == 0, "post");
        for (int id = 1; id <= 3; id++)
            expect(side->send_cq, id, IBV_WC_SUCCESS);
        REQUIRE(*(uint64_t *)side->buffer == (uint64_t)round, "additions");
    }
}

int main(void)
{
    struct world world;
    struct side side;
    int stream, status, child = part(&stream);
    char ready;
    if (!child) {
        target(stream);
        return 0;
    }
    world_open(&world);
    side_open(&world, &side, &usual);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    hear(stream, &ready, 1);
    kill(child, SIGSTOP);
    REQUIRE(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "stop");
    operate(&side, &peer);
    kill(child, SIGCONT);
    tell(stream, "g", 1);
    join_child(child);
    side_close(&side);
    world_close(&world);
    return ok("stopped_peer");
}
