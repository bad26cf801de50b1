/* Sizes around packets, pages and chunks up to many megabytes, in both directions, with every byte compared. */
#include "case.h"

enum { MOST = 9 << 20 };

static void fill(unsigned char *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

int main(void)
{
    static const size_t sizes[] = {1,     2,     3,      63,     64,     65,      1023,    1024,    1025, 4095,
                                   4096,  4097,  8192,   65535,  65536,  65537,   100000,  262144,  262145, 1048576,
                                   1048577, 3333333, MOST};
    struct world world;
    struct side sides[2];
    world_open(&world);
    pair_open(&world, sides, &usual);
    unsigned char *here = aligned_alloc(4096, MOST + 8192), *there = aligned_alloc(4096, MOST + 8192);
    struct ibv_mr *mine = ibv_reg_mr(world.pd, here, MOST + 8192, usual.access);
    struct ibv_mr *yours = ibv_reg_mr(world.pd, there, MOST + 8192, usual.access);
    REQUIRE(mine && yours, "reg_mr");
    static const int opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND};
    unsigned seed = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int k = 0; k < 3; k++) {
            size_t offset = 1 + i % 64, bytes = sizes[i];
            unsigned char *from = opcodes[k] == IBV_WR_RDMA_READ ? there : here, *to = from == here ? there : here;
            fill(from, bytes + 2 * offset, ++seed);
            memset(to, 0, bytes + 2 * offset);
            struct ibv_sge sge = {.addr = (uintptr_t)here + offset, .length = bytes, .lkey = mine->lkey};
            struct ibv_send_wr wr = {.wr_id = bytes,
                                     .sg_list = &sge,
                                     .num_sge = 1,
                                     .opcode = opcodes[k],
                                     .send_flags = IBV_SEND_SIGNALED,
                                     .wr.rdma = {.remote_addr = (uintptr_t)there + offset, .rkey = yours->rkey}};
            struct ibv_sge into = {.addr = (uintptr_t)there + offset, .length = bytes, .lkey = yours->lkey};
            struct ibv_recv_wr receive = {.wr_id = bytes, .sg_list = &into, .num_sge = 1}, *bad;
            if (opcodes[k] == IBV_WR_SEND)
                REQUIRE(ibv_post_recv(sides[1].qp, &receive, &bad) == 0, "receive");
            REQUIRE(post_one(&sides[0], &wr) == 0, "post");
            expect(sides[0].send_cq, bytes, IBV_WC_SUCCESS);
            if (opcodes[k] == IBV_WR_SEND)
                REQUIRE(expect(sides[1].receive_cq, bytes, IBV_WC_SUCCESS).byte_len == bytes, "length");
            REQUIRE(memcmp(to + offset, from + offset, bytes) == 0, "opcode %d, %zu bytes", opcodes[k], bytes);
            REQUIRE(to[offset - 1] == 0 && to[offset + bytes] == 0, "opcode %d, %zu bytes: around", opcodes[k], bytes);
        }
    }
    REQUIRE(ibv_dereg_mr(mine) == 0 && ibv_dereg_mr(yours) == 0, "dereg_mr");
    free(here);
    free(there);
    pair_close(sides);
    world_close(&world);
    return ok("large");
}
