/* A queue armed for solicited events wakes for those and for errors only; each arming gives one event. */
#include "case.h"

static int readable(struct ibv_comp_channel *channel, int ms)
{
    struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
    return poll(&ready, 1, ms) == 1;
}

static void take(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
    struct ibv_cq *which;
    void *context;
    REQUIRE(readable(channel, PATIENCE_MS), "no event");
    REQUIRE(ibv_get_cq_event(channel, &which, &context) == 0 && which == cq && context == &world_close, "get_cq_event");
    ibv_ack_cq_events(cq, 1);
}

int main(void)
{
    struct world world;
    struct side sides[2];
    world_open(&world);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(world.context);
    REQUIRE(channel, "channel");
    side_open(&world, &sides[0], &usual);
    side_open(&world, &sides[1], &usual);
    struct ibv_cq *cq = ibv_create_cq(world.context, 64, &world_close, channel, 0);
    struct ibv_qp_init_attr init = {.send_cq = sides[1].send_cq,
                                    .recv_cq = cq,
                                    .cap = {.max_send_wr = 8, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_RC};
    REQUIRE(ibv_destroy_qp(sides[1].qp) == 0, "destroy");
    sides[1].qp = ibv_create_qp(world.pd, &init);
    REQUIRE(cq && sides[1].qp, "create");
    connect_to(&sides[0], &usual, sides[1].qp->qp_num);
    connect_to(&sides[1], &usual, sides[0].qp->qp_num);
    for (int i = 0; i < 8; i++)
        REQUIRE(receive(&sides[1], i, 64 * i, 64) == 0, "receive");

    struct ibv_sge sge = piece(&sides[0], 0, 8);
    struct ibv_send_wr plain = request(&sge, &sides[1], 1, IBV_WR_SEND, 0), solicited = plain;
    solicited.send_flags |= IBV_SEND_SOLICITED;

    REQUIRE(ibv_req_notify_cq(cq, 1) == 0 && post_one(&sides[0], &plain) == 0, "plain");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    expect(cq, 0, IBV_WC_SUCCESS);
    REQUIRE(!readable(channel, 100), "an unsolicited completion woke");
    REQUIRE(post_one(&sides[0], &solicited) == 0, "solicited");
    take(channel, cq);
    expect(cq, 1, IBV_WC_SUCCESS);
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);

    REQUIRE(post_one(&sides[0], &solicited) == 0, "not armed");
    expect(cq, 2, IBV_WC_SUCCESS);
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(!readable(channel, 100), "an event without arming");

    REQUIRE(ibv_req_notify_cq(cq, 0) == 0 && post_one(&sides[0], &plain) == 0, "armed for all");
    take(channel, cq);
    expect(cq, 3, IBV_WC_SUCCESS);
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);

    /* Receives that are flushed are errors, and those wake as well. */
    REQUIRE(ibv_req_notify_cq(cq, 1) == 0, "arm");
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    REQUIRE(ibv_modify_qp(sides[1].qp, &error, IBV_QP_STATE) == 0, "to ERR");
    take(channel, cq);
    expect(cq, 4, IBV_WC_WR_FLUSH_ERR);

    REQUIRE(ibv_destroy_comp_channel(channel) == EBUSY, "a channel in use");
    pair_close(sides);
    REQUIRE(ibv_destroy_cq(cq) == 0 && ibv_destroy_comp_channel(channel) == 0, "destroy");
    world_close(&world);
    return ok("solicited");
}
