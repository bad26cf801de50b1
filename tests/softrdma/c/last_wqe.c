/* A queue pair on a shared receive queue that goes to the error state tells when it takes no more from it. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    struct options shared = usual;
    world_open(&world);
    if (is_rxe(&world))
        unsupported("this event");
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 32, .max_sge = 1}};
    shared.srq = ibv_create_srq(world.pd, &init);
    REQUIRE(shared.srq, "create_srq");
    pair_open(&world, sides, &shared);
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    REQUIRE(ibv_modify_qp(sides[1].qp, &error, IBV_QP_STATE) == 0, "to ERR");
    struct ibv_async_event event = await_event(world.context, IBV_EVENT_QP_LAST_WQE_REACHED);
    REQUIRE(event.element.qp == sides[1].qp, "another queue pair");
    pair_close(sides);
    REQUIRE(ibv_destroy_srq(shared.srq) == 0, "destroy_srq");
    world_close(&world);
    return ok("last_wqe");
}
