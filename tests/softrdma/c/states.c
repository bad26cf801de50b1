/* The state machine: what each state lets one post, which transitions there are, which attributes they need.
 * InfiniBand Architecture Specification 1.3 §10.3.1; ibv_modify_qp(3). */
#include "case.h"

/* rxe's library queues what its kernel part then refuses, so that it is sent later: not tried there. */
static void cannot_send(struct side *side, uint64_t id, const char *state)
{
    if (!is_rxe(side->world))
        REQUIRE(post(side, side, id, IBV_WR_SEND, 0, 8) != 0, "send in %s", state);
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int main(void)
{
    struct world world;
    struct side side;
    world_open(&world);
    side_open(&world, &side, &usual);
    REQUIRE(state_of(side.qp) == IBV_QPS_RESET, "a new queue pair is in RESET");
    cannot_send(&side, 1, "RESET");
    REQUIRE(receive(&side, 1, 0, 8) != 0, "receive in RESET");
    REQUIRE(to_state(side.qp, IBV_QPS_INIT) != 0, "INIT without its attributes");
    REQUIRE(to_rtr(&world, side.qp, &usual, side.qp->qp_num) != 0, "RESET to RTR");
    REQUIRE(to_rts(side.qp, &usual) != 0, "RESET to RTS");
    REQUIRE(state_of(side.qp) == IBV_QPS_RESET, "a refused transition changes nothing");

    REQUIRE(to_init(side.qp, &usual) == 0, "RESET to INIT");
    REQUIRE(state_of(side.qp) == IBV_QPS_INIT && side.qp->state == IBV_QPS_INIT, "INIT");
    cannot_send(&side, 2, "INIT");
    REQUIRE(receive(&side, 3, 4096, 64) == 0, "receive in INIT");
    REQUIRE(to_init(side.qp, &usual) == 0, "INIT to INIT");
    REQUIRE(to_rts(side.qp, &usual) != 0, "INIT to RTS");
    REQUIRE(to_state(side.qp, IBV_QPS_RTR) != 0, "RTR without its attributes");

    REQUIRE(to_rtr(&world, side.qp, &usual, side.qp->qp_num) == 0, "INIT to RTR");
    cannot_send(&side, 4, "RTR");
    REQUIRE(to_init(side.qp, &usual) != 0, "RTR to INIT");
    REQUIRE(to_rts(side.qp, &usual) == 0, "RTR to RTS");

    /* Connected to itself: what it posts, it receives. */
    REQUIRE(post(&side, &side, 5, IBV_WR_SEND, 0, 8) == 0, "send in RTS");
    expect(side.send_cq, 5, IBV_WC_SUCCESS);
    expect(side.receive_cq, 3, IBV_WC_SUCCESS);

    REQUIRE(receive(&side, 6, 0, 8) == 0, "receive in RTS");
    REQUIRE(to_state(side.qp, IBV_QPS_ERR) == 0, "RTS to ERR");
    expect(side.receive_cq, 6, IBV_WC_WR_FLUSH_ERR);
    REQUIRE(post(&side, &side, 7, IBV_WR_SEND, 0, 8) == 0, "send in ERR");
    expect(side.send_cq, 7, IBV_WC_WR_FLUSH_ERR);
    REQUIRE(receive(&side, 8, 0, 8) == 0, "receive in ERR");
    if (!is_rxe(&world))
        expect(side.receive_cq, 8, IBV_WC_WR_FLUSH_ERR);
    REQUIRE(to_init(side.qp, &usual) != 0, "ERR to INIT");

    REQUIRE(to_state(side.qp, IBV_QPS_RESET) == 0, "ERR to RESET");
    connect_to(&side, &usual, side.qp->qp_num);
    REQUIRE(receive(&side, 9, 0, 8) == 0 && post(&side, &side, 10, IBV_WR_SEND, 64, 8) == 0, "once more");
    expect(side.receive_cq, 9, IBV_WC_SUCCESS);
    expect(side.send_cq, 10, IBV_WC_SUCCESS);
    side_close(&side);
    world_close(&world);
    return ok("states");
}
