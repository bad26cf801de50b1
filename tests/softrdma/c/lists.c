/* Lists of requests: what stands before the bad one is carried out, bad_wr points at it; a full queue is ENOMEM, and
 * places of unsignalled requests come back with the next signalled completion. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    world_open(&world);
    pair_open(&world, sides, &usual);
    static struct ibv_sge sges[1000];
    struct ibv_send_wr list[4], *bad = NULL;
    for (int i = 0; i < 4; i++) {
        sides[0].buffer[i] = (char)('a' + i);
        sges[i] = piece(&sides[0], i, 1);
        list[i] = request(&sges[i], &sides[1], i, IBV_WR_RDMA_WRITE, i);
        list[i].next = i < 3 ? &list[i + 1] : NULL;
    }
    list[2].num_sge = 1000;
    REQUIRE(ibv_post_send(sides[0].qp, list, &bad) != 0, "a request with 1000 pieces");
    REQUIRE(bad == &list[2], "bad_wr");
    expect(sides[0].send_cq, 0, IBV_WC_SUCCESS);
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    expect_nothing(sides[0].send_cq, 50);
    REQUIRE(memcmp(sides[1].buffer, "ab\0\0", 4) == 0, "data");

    struct ibv_recv_wr pieces = {.wr_id = 1, .sg_list = sges, .num_sge = 1000}, *bad_receive = NULL;
    REQUIRE(ibv_post_recv(sides[0].qp, &pieces, &bad_receive) != 0 && bad_receive == &pieces, "bad receive");

    /* Sends without a receive at the other side stay in the queue until it is full. */
    int posted = 0, refused = 0;
    for (; posted < 100000; posted++)
        if ((refused = post(&sides[0], &sides[1], posted, IBV_WR_SEND, 0, 1)))
            break;
    REQUIRE(posted >= 64 && refused == ENOMEM, "%d posted, then %d", posted, refused);
    int received = 0;
    for (; received < 100000; received++)
        if ((refused = receive(&sides[1], received, 64, 8)))
            break;
    REQUIRE(received >= 64, "%d receives, then %d", received, refused);
    for (int i = 0; i < posted; i++) {
        if (i >= received)
            REQUIRE(receive(&sides[1], i, 64, 8) == 0, "receive %d", i);
        expect(sides[1].receive_cq, i, IBV_WC_SUCCESS);
        expect(sides[0].send_cq, i, IBV_WC_SUCCESS);
    }

    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 15; i++) {
            struct ibv_send_wr quiet = request(&sges[0], &sides[1], i, IBV_WR_RDMA_WRITE, 0);
            quiet.send_flags = 0;
            REQUIRE(post_one(&sides[0], &quiet) == 0, "round %d: place %d", round, i);
        }
        REQUIRE(post(&sides[0], &sides[1], 99, IBV_WR_RDMA_WRITE, 0, 1) == 0, "round %d", round);
        expect(sides[0].send_cq, 99, IBV_WC_SUCCESS);
    }
    expect_nothing(sides[0].send_cq, 20);
    pair_close(sides);
    world_close(&world);
    return ok("lists");
}
