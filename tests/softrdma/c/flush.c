/* After an error everything that waits, and all that is posted later, is flushed, in order and once. */
#include "case.h"

enum { COUNT = 20 };

int main(void)
{
    struct world world;
    struct side sides[2];
    struct options impatient = usual;
    impatient.rnr_retry = 0;
    world_open(&world);
    pair_open(&world, sides, &impatient);
    for (int i = 0; i < COUNT; i++)
        REQUIRE(receive(&sides[0], 100 + i, 0, 64) == 0, "receive");
    /* No receive waits at the peer: the first send fails, the rest is never tried. */
    for (int i = 0; i < COUNT; i++) {
        struct ibv_sge sge = piece(&sides[0], 0, 8);
        struct ibv_send_wr wr = request(&sge, &sides[1], i, IBV_WR_SEND, 0);
        wr.send_flags = i % 2 ? 0 : IBV_SEND_SIGNALED; /* unsignalled ones are reported all the same */
        REQUIRE(post_one(&sides[0], &wr) == 0, "send %d", i);
    }
    expect(sides[0].send_cq, 0, IBV_WC_RNR_RETRY_EXC_ERR);
    for (int i = 1; i < COUNT; i++)
        expect(sides[0].send_cq, i, IBV_WC_WR_FLUSH_ERR);
    for (int i = 0; i < COUNT; i++)
        expect(sides[0].receive_cq, 100 + i, IBV_WC_WR_FLUSH_ERR);
    REQUIRE(state_of(sides[0].qp) == IBV_QPS_ERR, "state");
    expect_nothing(sides[0].send_cq, 50);
    expect_nothing(sides[0].receive_cq, 50);
    pair_close(sides);
    world_close(&world);
    return ok("flush");
}
