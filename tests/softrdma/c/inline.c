/* Inline data are taken when they are posted: the buffer may change at once and needs no key. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    world_open(&world);
    pair_open(&world, sides, &usual);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    REQUIRE(ibv_query_qp(sides[0].qp, &attr, IBV_QP_CAP, &init) == 0, "query");
    REQUIRE(init.cap.max_inline_data >= 64, "max_inline_data %u", init.cap.max_inline_data);
    char words[2][32] = {"not registered", "in two pieces"};
    struct ibv_sge sges[2];
    for (int i = 0; i < 2; i++)
        sges[i] = (struct ibv_sge){.addr = (uintptr_t)words[i], .length = 16, .lkey = 0xdead};
    struct ibv_send_wr send = request(sges, &sides[1], 1, IBV_WR_SEND, 0);
    send.num_sge = 2;
    send.send_flags |= IBV_SEND_INLINE;
    /* No receive waits yet, so that the data have to be kept. */
    REQUIRE(post_one(&sides[0], &send) == 0, "post");
    memset(words, 'x', sizeof words);
    usleep(20000);
    REQUIRE(receive(&sides[1], 2, 0, 64) == 0, "receive");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(expect(sides[1].receive_cq, 2, IBV_WC_SUCCESS).byte_len == 32, "length");
    REQUIRE(memcmp(sides[1].buffer, "not registered\0\0in two pieces\0\0\0", 32) == 0, "data: %.32s", sides[1].buffer);

    static char large[1 << 16];
    struct ibv_sge too_much = {.addr = (uintptr_t)large, .length = init.cap.max_inline_data + 1};
    struct ibv_send_wr write = request(&too_much, &sides[1], 3, IBV_WR_RDMA_WRITE, 0);
    write.send_flags |= IBV_SEND_INLINE;
    REQUIRE(too_much.length > sizeof large || post_one(&sides[0], &write) != 0, "more than max_inline_data");
    pair_close(sides);
    world_close(&world);
    return ok("inline");
}
