/* Datagrams: 40 bytes are kept free for the global header, a wrong queue key or no receive drops them in silence, what is
 * longer than the port's MTU does not arrive, whatever its sender is told. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    struct options datagram = usual;
    datagram.type = IBV_QPT_UD;
    world_open(&world);
    pair_open(&world, sides, &datagram);
    struct ibv_ah_attr path = path_to(&world, &world.gid, world.port.lid);
    struct ibv_ah *ah = ibv_create_ah(world.pd, &path);
    REQUIRE(ah, "create_ah");
    struct ibv_sge sge = piece(&sides[0], 0, 100);
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND_WITH_IMM,
                             .send_flags = IBV_SEND_SIGNALED,
                             .imm_data = 99,
                             .wr.ud = {.ah = ah, .remote_qpn = sides[1].qp->qp_num, .remote_qkey = QKEY}};
    memset(sides[0].buffer, 'd', 100);

    REQUIRE(post_one(&sides[0], &wr) == 0, "no receive waits");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    expect_nothing(sides[1].receive_cq, 50);

    REQUIRE(receive(&sides[1], 2, 0, 140) == 0, "receive");
    wr.wr.ud.remote_qkey = QKEY + 1;
    REQUIRE(post_one(&sides[0], &wr) == 0, "another key");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    expect_nothing(sides[1].receive_cq, 50);

    wr.wr.ud.remote_qkey = QKEY;
    REQUIRE(post_one(&sides[0], &wr) == 0, "post");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    struct ibv_wc wc = expect(sides[1].receive_cq, 2, IBV_WC_SUCCESS);
    REQUIRE(wc.byte_len == 140 && wc.src_qp == sides[0].qp->qp_num, "%u bytes from %#x", wc.byte_len, wc.src_qp);
    REQUIRE((wc.wc_flags & IBV_WC_WITH_IMM) && wc.imm_data == 99, "immediate");
    REQUIRE(sides[1].buffer[40] == 'd' && sides[1].buffer[139] == 'd', "data");

    /* An answer by what the completion tells. */
    struct ibv_ah *back = ibv_create_ah_from_wc(world.pd, &wc, (struct ibv_grh *)sides[1].buffer, PORT);
    REQUIRE(back, "create_ah_from_wc");
    REQUIRE(receive(&sides[0], 3, 4096, 140) == 0, "receive");
    struct ibv_sge answer = piece(&sides[1], 40, 100);
    struct ibv_send_wr reply = wr;
    reply.sg_list = &answer;
    reply.wr.ud.ah = back;
    reply.wr.ud.remote_qpn = wc.src_qp;
    REQUIRE(post_one(&sides[1], &reply) == 0, "reply");
    expect(sides[1].send_cq, 1, IBV_WC_SUCCESS);
    expect(sides[0].receive_cq, 3, IBV_WC_SUCCESS);
    REQUIRE(memcmp(sides[0].buffer + 4136, sides[0].buffer, 100) == 0, "reply's data");

    REQUIRE(receive(&sides[1], 4, 0, 65536) == 0, "receive");
    sge.length = (128u << world.port.active_mtu) + 1;
    if (post_one(&sides[0], &wr) == 0)
        REQUIRE(completion(sides[0].send_cq, &wc, PATIENCE_MS), "longer than the MTU");
    expect_nothing(sides[1].receive_cq, 50);
    REQUIRE(ibv_destroy_ah(ah) == 0 && ibv_destroy_ah(back) == 0, "destroy_ah");
    pair_close(sides);
    world_close(&world);
    return ok("ud");
}
