/* Thread domains and parent domains: used by queue pairs like any domain, busy while something holds them. */
#include "case.h"

int main(void)
{
    struct world world;
    world_open(&world);
    struct ibv_td_init_attr plain = {0}, unknown = {.comp_mask = 1u << 31};
    struct ibv_td *td = ibv_alloc_td(world.context, &plain);
    if (!td && errno == EOPNOTSUPP)
        unsupported("thread domains");
    REQUIRE(td, "alloc_td");
    REQUIRE(!ibv_alloc_td(world.context, &unknown) && errno == EINVAL, "unknown comp_mask");
    struct ibv_parent_domain_init_attr with = {.pd = world.pd, .td = td};
    struct ibv_pd *parent = ibv_alloc_parent_domain(world.context, &with);
    REQUIRE(parent, "alloc_parent_domain");
    REQUIRE(ibv_dealloc_td(td) == EBUSY, "a thread domain in use");
    REQUIRE(ibv_dealloc_pd(world.pd) == EBUSY, "a domain in use");

    /* Queue pairs of the parent domain reach regions of the domain below it. */
    struct world inside = world;
    struct side sides[2];
    inside.pd = parent;
    side_open(&inside, &sides[0], &usual);
    side_open(&world, &sides[1], &usual);
    connect_to(&sides[0], &usual, sides[1].qp->qp_num);
    connect_to(&sides[1], &usual, sides[0].qp->qp_num);
    strcpy(sides[0].buffer, "domain");
    REQUIRE(post(&sides[0], &sides[1], 1, IBV_WR_RDMA_WRITE, 0, 7) == 0, "write");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(strcmp(sides[1].buffer, "domain") == 0, "data");
    REQUIRE(post(&sides[1], &sides[0], 2, IBV_WR_RDMA_WRITE, 64, 7) == 0, "write");
    expect(sides[1].send_cq, 2, IBV_WC_SUCCESS);
    REQUIRE(ibv_dealloc_pd(parent) == EBUSY, "a parent domain in use");
    pair_close(sides);
    REQUIRE(ibv_dealloc_pd(parent) == 0 && ibv_dealloc_td(td) == 0, "dealloc");
    world_close(&world);
    return ok("domains");
}
