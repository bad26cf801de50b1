/* A message longer than its receive: an error at both ends. Scattered receives, gathered sends, empty messages. */
#include <sys/mman.h>

#include "case.h"

/* rxe calls it a remote operation error. */
static void too_long(struct world *world)
{
    enum ibv_wc_status here = is_rxe(world) ? IBV_WC_REM_OP_ERR : IBV_WC_REM_INV_REQ_ERR;
    enum ibv_wc_status there = is_rxe(world) ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_LOC_LEN_ERR;
    struct side sides[2];
    pair_open(world, sides, &usual);
    REQUIRE(receive(&sides[1], 2, 0, 16) == 0, "receive");
    REQUIRE(post(&sides[0], &sides[1], 1, IBV_WR_SEND, 0, 17) == 0, "send");
    expect(sides[0].send_cq, 1, here);
    expect(sides[1].receive_cq, 2, there);
    await_state(sides[1].qp, IBV_QPS_ERR);
    pair_close(sides);
}

static void scattered(struct world *world)
{
    struct side sides[2];
    pair_open(world, sides, &usual);
    for (int i = 0; i < 5000; i++)
        sides[0].buffer[i] = (char)(i * 7 + i / 256);
    struct ibv_sge out[3] = {piece(&sides[0], 0, 1), piece(&sides[0], 1, 4000), piece(&sides[0], 4001, 999)};
    struct ibv_sge in[4] = {piece(&sides[1], 0, 1500), piece(&sides[1], 10000, 3), piece(&sides[1], 20000, 3000),
                            piece(&sides[1], 30000, 4000)};
    struct ibv_recv_wr receive_wr = {.wr_id = 2, .sg_list = in, .num_sge = 4}, *bad;
    REQUIRE(ibv_post_recv(sides[1].qp, &receive_wr, &bad) == 0, "receive");
    struct ibv_send_wr send = request(out, &sides[1], 1, IBV_WR_SEND_WITH_IMM, 0);
    send.num_sge = 3;
    send.imm_data = 0x01020304;
    REQUIRE(post_one(&sides[0], &send) == 0, "send");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    struct ibv_wc wc = expect(sides[1].receive_cq, 2, IBV_WC_SUCCESS);
    REQUIRE(wc.byte_len == 5000 && wc.opcode == IBV_WC_RECV, "%u bytes", wc.byte_len);
    REQUIRE((wc.wc_flags & IBV_WC_WITH_IMM) && wc.imm_data == 0x01020304, "immediate");
    const char *sent = sides[0].buffer, *got = sides[1].buffer;
    REQUIRE(!memcmp(got, sent, 1500) && !memcmp(got + 10000, sent + 1500, 3) && !memcmp(got + 20000, sent + 1503, 3000) &&
                !memcmp(got + 30000, sent + 4503, 497) && got[30497] == 0,
            "data");
    pair_close(sides);
}

static void empty(struct world *world)
{
    struct side sides[2];
    pair_open(world, sides, &usual);
    struct ibv_recv_wr none = {.wr_id = 2}, *bad;
    REQUIRE(ibv_post_recv(sides[1].qp, &none, &bad) == 0 && ibv_post_recv(sides[1].qp, &none, &bad) == 0, "receive");
    struct ibv_send_wr send = request(NULL, &sides[1], 1, IBV_WR_SEND, 0);
    send.num_sge = 0;
    REQUIRE(post_one(&sides[0], &send) == 0, "send");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(expect(sides[1].receive_cq, 2, IBV_WC_SUCCESS).byte_len == 0, "length");
    /* A write of nothing needs no valid key (§9.7.4.1.1), and its immediate value takes a receive. */
    send.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    send.imm_data = 77;
    REQUIRE(post_one(&sides[0], &send) == 0, "write");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    struct ibv_wc wc = expect(sides[1].receive_cq, 2, IBV_WC_SUCCESS);
    REQUIRE(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == 77 && wc.byte_len == 0, "write with immediate");
    pair_close(sides);
}

/* A message longer than the port takes never leaves (§11.6.2). rxe does not look. */
static void beyond_the_port(struct world *world)
{
    struct side sides[2];
    size_t bytes = (size_t)world->port.max_msg_sz + 4096;
    void *vast = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(vast != MAP_FAILED, "mmap");
    struct ibv_mr *mr = ibv_reg_mr(world->pd, vast, bytes, usual.access);
    REQUIRE(mr, "reg_mr");
    for (int opcode = IBV_WR_RDMA_WRITE; opcode <= IBV_WR_RDMA_READ; opcode++) {
        pair_open(world, sides, &usual);
        struct ibv_sge sge = {(uintptr_t)vast, world->port.max_msg_sz + 1, mr->lkey};
        struct ibv_send_wr wr = request(&sge, &sides[1], 1, opcode, 0);
        wr.wr.rdma.remote_addr = (uintptr_t)vast;
        wr.wr.rdma.rkey = mr->rkey;
        REQUIRE(post_one(&sides[0], &wr) == 0, "post");
        expect(sides[0].send_cq, 1, IBV_WC_LOC_LEN_ERR);
        REQUIRE(state_of(sides[1].qp) == IBV_QPS_RTS, "the peer heard of it");
        pair_close(sides);
    }
    REQUIRE(ibv_dereg_mr(mr) == 0 && munmap(vast, bytes) == 0, "free");
}

int main(void)
{
    struct world world;
    world_open(&world);
    too_long(&world);
    scattered(&world);
    empty(&world);
    if (!is_rxe(&world))
        beyond_the_port(&world);
    world_close(&world);
    return ok("lengths");
}
