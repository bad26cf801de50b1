/* Requests of one queue pair take effect and complete in the order they were posted, whatever their sizes; a fence holds
 * what follows until reads are done. §9.5, §10.8.3.3 */
#include "case.h"

enum { ROUNDS = 200, BIG = 300000 };

int main(void)
{
    struct world world;
    struct side sides[2];
    world_open(&world);
    pair_open(&world, sides, &usual);
    volatile uint32_t *target = (volatile uint32_t *)sides[1].buffer;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        /* A long write whose last word is the round, then a send: when the send has arrived, the word must be there. */
        uint32_t *source = (uint32_t *)sides[0].buffer;
        source[0] = round;
        source[BIG / 4 - 1] = round;
        REQUIRE(receive(&sides[1], round, BUFFER - 64, 64) == 0, "receive");
        struct ibv_sge big = piece(&sides[0], 0, BIG), small = piece(&sides[0], BUFFER - 64, 4);
        struct ibv_sge back = piece(&sides[0], BIG + 4096, BIG);
        struct ibv_send_wr write = request(&big, &sides[1], 1, IBV_WR_RDMA_WRITE, 0);
        struct ibv_send_wr send = request(&small, &sides[1], 2, IBV_WR_SEND, 0);
        struct ibv_send_wr read = request(&back, &sides[1], 3, IBV_WR_RDMA_READ, 0);
        struct ibv_send_wr last = request(&small, &sides[1], 4, IBV_WR_RDMA_WRITE, BIG / 4 * 4 - 8);
        write.next = &send;
        send.next = &read;
        read.next = &last;
        last.send_flags |= IBV_SEND_FENCE;
        last.wr.rdma.remote_addr = (uintptr_t)sides[1].buffer;
        memset(sides[0].buffer + BUFFER - 64, 0xee, 4);
        REQUIRE(post_one(&sides[0], &write) == 0, "post");
        expect(sides[1].receive_cq, round, IBV_WC_SUCCESS);
        REQUIRE(target[BIG / 4 - 1] == round, "the send overtook the write");
        for (int id = 1; id <= 4; id++)
            expect(sides[0].send_cq, id, IBV_WC_SUCCESS);
        uint32_t *copy = (uint32_t *)(sides[0].buffer + BIG + 4096);
        REQUIRE(copy[0] == round && copy[BIG / 4 - 1] == round, "the fenced write overtook the read");
        REQUIRE(target[0] == 0xeeeeeeee, "the fenced write is missing");
    }
    pair_close(sides);
    world_close(&world);
    return ok("ordering");
}
