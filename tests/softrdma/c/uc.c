/* Unreliable connections: what cannot be received is dropped and the sender never learns; writes work, reads do not. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    struct options unreliable = usual;
    unreliable.type = IBV_QPT_UC;
    unreliable.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    world_open(&world);
    pair_open(&world, sides, &unreliable);
    REQUIRE(post(&sides[0], &sides[1], 1, IBV_WR_SEND, 0, 5000) == 0, "send");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    expect_nothing(sides[1].receive_cq, 50);
    REQUIRE(receive(&sides[1], 2, 8192, 8192) == 0, "receive");
    memset(sides[0].buffer, 'u', 5000);
    REQUIRE(post(&sides[0], &sides[1], 3, IBV_WR_SEND, 0, 5000) == 0, "send");
    expect(sides[0].send_cq, 3, IBV_WC_SUCCESS);
    REQUIRE(expect(sides[1].receive_cq, 2, IBV_WC_SUCCESS).byte_len == 5000, "length");
    REQUIRE(memcmp(sides[1].buffer + 8192, sides[0].buffer, 5000) == 0, "data");

    struct ibv_sge sge = piece(&sides[0], 0, 3000);
    struct ibv_send_wr write = request(&sge, &sides[1], 4, IBV_WR_RDMA_WRITE_WITH_IMM, 0);
    write.imm_data = 5;
    REQUIRE(receive(&sides[1], 6, 0, 0) == 0 && post_one(&sides[0], &write) == 0, "write with immediate");
    expect(sides[0].send_cq, 4, IBV_WC_SUCCESS);
    REQUIRE(expect(sides[1].receive_cq, 6, IBV_WC_SUCCESS).imm_data == 5, "immediate");
    REQUIRE(memcmp(sides[1].buffer, sides[0].buffer, 3000) == 0, "data");

    write.opcode = IBV_WR_RDMA_WRITE;
    write.wr.rdma.rkey ^= 0x5a5a00;
    REQUIRE(post_one(&sides[0], &write) == 0, "a wrong key");
    expect(sides[0].send_cq, 4, IBV_WC_SUCCESS);
    REQUIRE(state_of(sides[0].qp) == IBV_QPS_RTS, "the sender does not learn");
    pair_close(sides);
    world_close(&world);
    return ok("uc");
}
