/* What modify_qp was told, query_qp tells; capacities granted are at least those asked for. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    world_open(&world);
    pair_open(&world, sides, &usual);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    REQUIRE(ibv_query_qp(sides[0].qp, &attr, (IBV_QP_DEST_QPN << 1) - 1, &init) == 0, "query");
    REQUIRE(attr.qp_state == IBV_QPS_RTS, "state %d", attr.qp_state);
    REQUIRE(attr.dest_qp_num == sides[1].qp->qp_num, "dest_qp_num %u", attr.dest_qp_num);
    REQUIRE(attr.path_mtu == IBV_MTU_1024, "path_mtu %d", attr.path_mtu);
    REQUIRE(attr.rnr_retry == 7 && attr.retry_cnt == 7 && attr.timeout == 12, "retries");
    REQUIRE(attr.min_rnr_timer == 1, "min_rnr_timer %d", attr.min_rnr_timer);
    REQUIRE(attr.max_rd_atomic == 4 && attr.max_dest_rd_atomic == 4, "rd_atomic");
    REQUIRE(attr.qp_access_flags == (unsigned)(usual.access & ~IBV_ACCESS_LOCAL_WRITE) ||
                attr.qp_access_flags == (unsigned)usual.access,
            "access %#x", attr.qp_access_flags);
    REQUIRE(attr.port_num == PORT && attr.pkey_index == 0, "port");
    REQUIRE(init.qp_type == IBV_QPT_RC && init.send_cq == sides[0].send_cq && init.recv_cq == sides[0].receive_cq,
            "init attributes");
    REQUIRE(init.cap.max_send_wr >= 64 && init.cap.max_recv_wr >= 64 && init.cap.max_send_sge >= 4 &&
                init.cap.max_inline_data >= 64,
            "capacities");

    struct ibv_device_attr device;
    REQUIRE(ibv_query_device(world.context, &device) == 0, "query_device");
    struct ibv_qp_init_attr greedy = {.send_cq = sides[0].send_cq,
                                      .recv_cq = sides[0].receive_cq,
                                      .cap = {.max_send_wr = device.max_qp_wr + 1, .max_send_sge = 1},
                                      .qp_type = IBV_QPT_RC};
    REQUIRE(!ibv_create_qp(world.pd, &greedy), "more than max_qp_wr");
    greedy.cap.max_send_wr = 1;
    greedy.cap.max_send_sge = device.max_sge + 1;
    REQUIRE(!ibv_create_qp(world.pd, &greedy), "more than max_sge");
    REQUIRE(!ibv_create_cq(world.context, device.max_cqe + 1, NULL, NULL, 0), "more than max_cqe");
    REQUIRE(ibv_destroy_cq(sides[0].send_cq) == EBUSY, "a completion queue in use");
    pair_close(sides);
    world_close(&world);
    return ok("attributes");
}
