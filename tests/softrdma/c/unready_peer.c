/* A queue pair that is not there, or not yet in RTR, does not answer: retries, then "transport retry counter exceeded". */
#include "case.h"

static void try(struct world *world, struct side *there, uint32_t number, const char *what)
{
    struct side side;
    struct options quick = usual;
    quick.timeout = 10; /* 4 ms */
    quick.retry = 3;
    side_open(world, &side, &quick);
    connect_to(&side, &quick, number);
    REQUIRE(post(&side, there, 1, IBV_WR_RDMA_WRITE, 0, 8) == 0, "%s", what);
    struct ibv_wc wc;
    REQUIRE(completion(side.send_cq, &wc, PATIENCE_MS), "%s: no completion", what);
    REQUIRE(wc.status == IBV_WC_RETRY_EXC_ERR, "%s: %s", what, ibv_wc_status_str(wc.status));
    side_close(&side);
}

/* It answers within the retries: then all is well. */
static void comes_late(struct world *world)
{
    struct side sides[2];
    struct options patient = usual;
    patient.timeout = 16;
    side_open(world, &sides[0], &patient);
    side_open(world, &sides[1], &patient);
    connect_to(&sides[0], &patient, sides[1].qp->qp_num);
    REQUIRE(to_init(sides[1].qp, &patient) == 0, "INIT");
    REQUIRE(post(&sides[0], &sides[1], 1, IBV_WR_RDMA_WRITE, 0, 8) == 0, "post");
    usleep(100000);
    REQUIRE(to_rtr(world, sides[1].qp, &patient, sides[0].qp->qp_num) == 0, "RTR");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    pair_close(sides);
}

int main(void)
{
    struct world world;
    struct side initial;
    world_open(&world);
    side_open(&world, &initial, &usual);
    REQUIRE(to_init(initial.qp, &usual) == 0, "INIT");
    try(&world, &initial, initial.qp->qp_num, "a peer in INIT");
    uint32_t gone = initial.qp->qp_num;
    REQUIRE(ibv_destroy_qp(initial.qp) == 0, "destroy");
    try(&world, &initial, gone, "a peer that was destroyed");
    comes_late(&world);
    ibv_destroy_cq(initial.send_cq);
    ibv_destroy_cq(initial.receive_cq);
    ibv_dereg_mr(initial.mr);
    free(initial.buffer);
    world_close(&world);
    return ok("unready_peer");
}
