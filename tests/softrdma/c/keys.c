/* Wrong keys, ranges and rights, each with its completion error; both queue pairs are then in the error state.
 * InfiniBand Architecture Specification 1.3 §9.9.3 (responder's NAK codes), §10.7.2 (protection). */
#include "case.h"

struct wrong {
    const char *name;
    int opcode, access;
    void (*spoil)(struct ibv_send_wr *, struct ibv_sge *, struct side *);
    enum ibv_wc_status status;
};

static void remote_key(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)sge, (void)peer;
    wr->wr.rdma.rkey ^= 0x5a5a00;
}

static void generation(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)sge, (void)peer;
    wr->wr.rdma.rkey ^= 1;
}

static void past_the_end(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)sge;
    wr->wr.rdma.remote_addr = (uintptr_t)peer->buffer + BUFFER - 7;
}

static void before_the_start(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)sge;
    wr->wr.rdma.remote_addr = (uintptr_t)peer->buffer - 1;
}

static void around_the_end_of_addresses(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)sge, (void)peer;
    wr->wr.rdma.remote_addr = UINT64_MAX - 3;
}

static void local_key(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)wr, (void)peer;
    sge->lkey ^= 0x5a5a00;
}

static void local_range(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)wr, (void)peer;
    sge->addr += BUFFER - 7;
}

static void nothing(struct ibv_send_wr *wr, struct ibv_sge *sge, struct side *peer)
{
    (void)wr, (void)sge, (void)peer;
}

enum {
    LOCAL = IBV_ACCESS_LOCAL_WRITE,
    WRITE = LOCAL | IBV_ACCESS_REMOTE_WRITE,
    READ = LOCAL | IBV_ACCESS_REMOTE_READ,
    ATOMIC = LOCAL | IBV_ACCESS_REMOTE_ATOMIC,
    ALL = WRITE | READ | ATOMIC,
};

static const struct wrong wrongs[] = {
    {"write, unknown key", IBV_WR_RDMA_WRITE, ALL, remote_key, IBV_WC_REM_ACCESS_ERR},
    {"write, old generation of a key", IBV_WR_RDMA_WRITE, ALL, generation, IBV_WC_REM_ACCESS_ERR},
    {"write, past the end", IBV_WR_RDMA_WRITE, ALL, past_the_end, IBV_WC_REM_ACCESS_ERR},
    {"write, before the start", IBV_WR_RDMA_WRITE, ALL, before_the_start, IBV_WC_REM_ACCESS_ERR},
    {"write, address wraps", IBV_WR_RDMA_WRITE, ALL, around_the_end_of_addresses, IBV_WC_REM_ACCESS_ERR},
    {"read, unknown key", IBV_WR_RDMA_READ, ALL, remote_key, IBV_WC_REM_ACCESS_ERR},
    {"read, past the end", IBV_WR_RDMA_READ, ALL, past_the_end, IBV_WC_REM_ACCESS_ERR},
    {"write, no right in the region", IBV_WR_RDMA_WRITE, READ | ATOMIC, nothing, IBV_WC_REM_ACCESS_ERR},
    {"read, no right in the region", IBV_WR_RDMA_READ, WRITE | ATOMIC, nothing, IBV_WC_REM_ACCESS_ERR},
    {"write, local key", IBV_WR_RDMA_WRITE, ALL, local_key, IBV_WC_LOC_PROT_ERR},
    {"write, local range", IBV_WR_RDMA_WRITE, ALL, local_range, IBV_WC_LOC_PROT_ERR},
    {"send, local key", IBV_WR_SEND, ALL, local_key, IBV_WC_LOC_PROT_ERR},
};

static void try(struct world *world, const struct wrong *wrong)
{
    struct side sides[2];
    pair_open(world, sides, &usual);
    struct ibv_mr *narrow = ibv_reg_mr(world->pd, sides[1].buffer, BUFFER, wrong->access);
    REQUIRE(narrow && receive(&sides[1], 7, 0, 64) == 0, "%s", wrong->name);
    memset(sides[1].buffer, 'r', 8);
    struct ibv_sge sge = piece(&sides[0], 0, 8);
    struct ibv_send_wr wr = request(&sge, &sides[1], 1, wrong->opcode, 0);
    if (wrong->opcode != IBV_WR_SEND)
        wr.wr.rdma.rkey = narrow->rkey;
    wrong->spoil(&wr, &sge, &sides[1]);
    int refused = post_one(&sides[0], &wr);
    REQUIRE(refused == 0, "%s: post_send says %d", wrong->name, refused);
    struct ibv_wc wc;
    REQUIRE(completion(sides[0].send_cq, &wc, PATIENCE_MS), "%s: no completion", wrong->name);
    /* rxe has two names for a wrong local key. */
    if (is_rxe(world) && wc.status == IBV_WC_LOC_QP_OP_ERR)
        wc.status = IBV_WC_LOC_PROT_ERR;
    REQUIRE(wc.wr_id == 1 && wc.status == wrong->status, "%s: %s", wrong->name, ibv_wc_status_str(wc.status));
    await_state(sides[0].qp, IBV_QPS_ERR);
    REQUIRE(memcmp(sides[1].buffer, "rrrrrrrr", 8) == 0, "%s: memory was changed", wrong->name);
    /* What the responder refuses breaks the connection at both ends; what stays at home does not reach it. */
    if (wrong->status == IBV_WC_REM_ACCESS_ERR) {
        await_state(sides[1].qp, IBV_QPS_ERR);
        expect(sides[1].receive_cq, 7, IBV_WC_WR_FLUSH_ERR);
    }
    ibv_dereg_mr(narrow);
    pair_close(sides);
}

/* A key of another protection domain opens nothing, and a region that was given back is gone. */
static void foreign_domain(struct world *world)
{
    struct side sides[2];
    pair_open(world, sides, &usual);
    struct ibv_pd *other = ibv_alloc_pd(world->context);
    struct ibv_mr *foreign = ibv_reg_mr(other, sides[1].buffer, BUFFER, usual.access);
    REQUIRE(foreign, "reg_mr");
    struct ibv_sge sge = piece(&sides[0], 0, 8);
    struct ibv_send_wr wr = request(&sge, &sides[1], 1, IBV_WR_RDMA_WRITE, 0);
    wr.wr.rdma.rkey = foreign->rkey;
    REQUIRE(post_one(&sides[0], &wr) == 0, "post");
    expect(sides[0].send_cq, 1, IBV_WC_REM_ACCESS_ERR);
    REQUIRE(ibv_dereg_mr(foreign) == 0 && ibv_dealloc_pd(other) == 0, "free");
    pair_close(sides);
}

static void given_back(struct world *world)
{
    struct side sides[2];
    pair_open(world, sides, &usual);
    struct ibv_mr *region = ibv_reg_mr(world->pd, sides[1].buffer, BUFFER, usual.access);
    uint32_t rkey = region->rkey;
    REQUIRE(ibv_dereg_mr(region) == 0, "dereg");
    struct ibv_sge sge = piece(&sides[0], 0, 8);
    struct ibv_send_wr wr = request(&sge, &sides[1], 1, IBV_WR_RDMA_WRITE, 0);
    wr.wr.rdma.rkey = rkey;
    REQUIRE(post_one(&sides[0], &wr) == 0, "post");
    expect(sides[0].send_cq, 1, IBV_WC_REM_ACCESS_ERR);
    pair_close(sides);
}

int main(void)
{
    struct world world;
    world_open(&world);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        try(&world, &wrongs[i]);
    foreign_domain(&world);
    given_back(&world);
    world_close(&world);
    return ok("keys");
}
