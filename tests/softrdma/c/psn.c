/* Packet sequence numbers: what begins with another one than the responder expects is never answered, and the other direction
 * does not mind. An unreliable responder takes the first packet's. */
#include "case.h"

static void connect_with(struct side sides[2], struct options options, uint32_t sends, uint32_t expects)
{
    options.sq_psn = sends;
    options.rq_psn = 300;
    REQUIRE(to_init(sides[0].qp, &options) == 0, "to INIT");
    REQUIRE(to_rtr(sides[0].world, sides[0].qp, &options, sides[1].qp->qp_num) == 0, "to RTR");
    REQUIRE(to_rts(sides[0].qp, &options) == 0, "to RTS");
    options.sq_psn = 300;
    options.rq_psn = expects;
    connect_to(&sides[1], &options, sides[0].qp->qp_num);
}

static void differ(struct world *world, uint32_t sends, uint32_t expects)
{
    struct side sides[2];
    struct options options = usual;
    /* Half a second until it gives up. */
    options.timeout = 14;
    options.retry = 3;
    side_open(world, &sides[0], &options);
    side_open(world, &sides[1], &options);
    connect_with(sides, options, sends, expects);
    REQUIRE(receive(&sides[0], 1, 0, 64) == 0 && receive(&sides[1], 2, 0, 64) == 0, "post_recv");
    REQUIRE(post(&sides[1], &sides[0], 3, IBV_WR_SEND, 0, 8) == 0, "post");
    expect(sides[0].receive_cq, 1, IBV_WC_SUCCESS);
    expect(sides[1].send_cq, 3, IBV_WC_SUCCESS);
    REQUIRE(post(&sides[0], &sides[1], 4, IBV_WR_SEND, 0, 8) == 0, "post");
    expect(sides[0].send_cq, 4, IBV_WC_RETRY_EXC_ERR);
    await_state(sides[0].qp, IBV_QPS_ERR);
    expect_nothing(sides[1].receive_cq, 0);
    REQUIRE(state_of(sides[1].qp) == IBV_QPS_RTS, "the responder has noticed nothing");
    pair_close(sides);
}

/* Who begins anew while its peer does not is not where that peer is. */
static void begin_anew(struct world *world)
{
    struct side sides[2];
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    pair_open(world, sides, &usual);
    for (int i = 0; i < 5; i++) {
        REQUIRE(post(&sides[0], &sides[1], i, IBV_WR_RDMA_WRITE, 0, 8) == 0, "post");
        expect(sides[0].send_cq, i, IBV_WC_SUCCESS);
    }
    REQUIRE(ibv_modify_qp(sides[0].qp, &reset, IBV_QP_STATE) == 0, "to RESET");
    connect_to(&sides[0], &usual, sides[1].qp->qp_num);
    REQUIRE(post(&sides[0], &sides[1], 9, IBV_WR_RDMA_READ, 0, 8) == 0, "post");
    expect(sides[0].send_cq, 9, IBV_WC_RETRY_EXC_ERR);
    /* Both together are fine. */
    for (int i = 0; i < 2; i++)
        REQUIRE(ibv_modify_qp(sides[i].qp, &reset, IBV_QP_STATE) == 0, "to RESET");
    connect_to(&sides[0], &usual, sides[1].qp->qp_num);
    connect_to(&sides[1], &usual, sides[0].qp->qp_num);
    REQUIRE(post(&sides[0], &sides[1], 10, IBV_WR_RDMA_WRITE, 0, 8) == 0, "post");
    expect(sides[0].send_cq, 10, IBV_WC_SUCCESS);
    pair_close(sides);
}

static void unreliable(struct world *world)
{
    struct side sides[2];
    struct options options = usual;
    options.type = IBV_QPT_UC;
    side_open(world, &sides[0], &options);
    side_open(world, &sides[1], &options);
    connect_with(sides, options, 100, 5000);
    REQUIRE(receive(&sides[1], 1, 0, 64) == 0, "post_recv");
    REQUIRE(post(&sides[0], &sides[1], 2, IBV_WR_SEND, 0, 8) == 0, "post");
    expect(sides[0].send_cq, 2, IBV_WC_SUCCESS);
    expect(sides[1].receive_cq, 1, IBV_WC_SUCCESS);
    pair_close(sides);
}

int main(void)
{
    struct world world;
    world_open(&world);
    differ(&world, 1100, 100);
    differ(&world, 100, 1100);
    begin_anew(&world);
    unreliable(&world);
    world_close(&world);
    return ok("psn");
}
