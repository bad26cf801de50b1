/* A shared receive queue: served in order for all its queue pairs; its limit tells once and disarms itself. */
#include "case.h"

static void give(struct ibv_srq *srq, struct side *side, int id)
{
    struct ibv_sge sge = piece(side, 64 * id, 64);
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0, "post_srq_recv %d", id);
}

int main(void)
{
    struct world world;
    struct side client[2], server[2];
    struct options shared = usual;
    world_open(&world);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 32, .max_sge = 1}};
    struct ibv_srq *srq = shared.srq = ibv_create_srq(world.pd, &init);
    REQUIRE(srq, "create_srq");
    for (int i = 0; i < 2; i++) {
        side_open(&world, &client[i], &usual);
        side_open(&world, &server[i], &shared);
        connect_to(&client[i], &usual, server[i].qp->qp_num);
        connect_to(&server[i], &shared, client[i].qp->qp_num);
    }
    for (int i = 0; i < 10; i++)
        give(srq, &server[0], i);
    struct ibv_srq_attr limit = {.srq_limit = 7};
    REQUIRE(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0, "arm");
    struct ibv_srq_attr seen;
    REQUIRE(ibv_query_srq(srq, &seen) == 0 && seen.srq_limit == 7 && seen.max_wr >= 32, "query_srq");
    for (int i = 0; i < 4; i++) {
        REQUIRE(post(&client[i % 2], &server[0], i, IBV_WR_SEND, 0, 8) == 0, "post");
        expect(client[i % 2].send_cq, i, IBV_WC_SUCCESS);
        struct ibv_wc wc = expect(server[i % 2].receive_cq, i, IBV_WC_SUCCESS);
        REQUIRE(wc.qp_num == server[i % 2].qp->qp_num, "qp_num");
    }
    struct ibv_async_event event = await_event(world.context, IBV_EVENT_SRQ_LIMIT_REACHED);
    REQUIRE(event.element.srq == srq, "another queue");
    REQUIRE(ibv_query_srq(srq, &seen) == 0 && seen.srq_limit == 0, "the limit disarms itself: %u", seen.srq_limit);
    REQUIRE(ibv_destroy_srq(srq) == EBUSY, "a queue in use");
    for (int i = 0; i < 2; i++) {
        side_close(&client[i]);
        side_close(&server[i]);
    }
    REQUIRE(ibv_destroy_srq(srq) == 0, "destroy_srq");
    world_close(&world);
    return ok("srq_limit");
}
