/* The queue pair's own access flags count as well as the region's, and remote rights need local write. */
#include "case.h"

static void refuse(struct world *world, int opcode, int without)
{
    struct side sides[2];
    struct options narrow = usual;
    side_open(world, &sides[0], &usual);
    side_open(world, &sides[1], &usual);
    narrow.access &= ~without;
    connect_to(&sides[0], &usual, sides[1].qp->qp_num);
    connect_to(&sides[1], &narrow, sides[0].qp->qp_num);
    REQUIRE(post(&sides[0], &sides[1], 1, opcode, 0, 8) == 0, "post");
    struct ibv_wc wc;
    REQUIRE(completion(sides[0].send_cq, &wc, PATIENCE_MS), "opcode %d: no completion", opcode);
    /* The specification's answer is "invalid request"; some devices say "access error" (§9.9.3, table 61). */
    REQUIRE(wc.status == IBV_WC_REM_INV_REQ_ERR || wc.status == IBV_WC_REM_ACCESS_ERR, "opcode %d: %s", opcode,
            ibv_wc_status_str(wc.status));
    pair_close(sides);
}

int main(void)
{
    struct world world;
    world_open(&world);
    refuse(&world, IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE);
    refuse(&world, IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ);
    refuse(&world, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC);
    static char memory[4096];
    REQUIRE(!ibv_reg_mr(world.pd, memory, sizeof memory, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL,
            "remote write without local write");
    REQUIRE(!ibv_reg_mr(world.pd, memory, sizeof memory, IBV_ACCESS_REMOTE_ATOMIC) && errno == EINVAL,
            "remote atomics without local write");
    world_close(&world);
    return ok("rights");
}
