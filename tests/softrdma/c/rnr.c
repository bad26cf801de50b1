/* Receiver not ready: retried as often as rnr_retry says and not more; 7 means for ever. §9.7.5.2.8 */
#include "case.h"

static void gives_up(struct world *world, int retries, int timer)
{
    struct side sides[2];
    struct options options = usual;
    options.rnr_retry = retries;
    options.rnr_timer = timer;
    pair_open(world, sides, &options);
    long begin = now_ms();
    REQUIRE(post(&sides[0], &sides[1], 1, IBV_WR_SEND, 0, 8) == 0, "post");
    expect(sides[0].send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
    long took = now_ms() - begin;
    /* Timer 24 is 40.96 ms. */
    REQUIRE(timer != 24 || took >= retries * 40, "%d retries took only %ld ms", retries, took);
    REQUIRE(state_of(sides[1].qp) == IBV_QPS_RTS, "the responder is not harmed");
    pair_close(sides);
}

static void goes_on(struct world *world)
{
    struct side sides[2];
    pair_open(world, sides, &usual);
    strcpy(sides[0].buffer, "patience");
    REQUIRE(post(&sides[0], &sides[1], 1, IBV_WR_SEND, 0, 9) == 0, "post");
    REQUIRE(post(&sides[0], &sides[1], 2, IBV_WR_SEND, 1000, 9) == 0, "post");
    expect_nothing(sides[0].send_cq, 300);
    REQUIRE(receive(&sides[1], 3, 0, 64) == 0 && receive(&sides[1], 4, 100, 64) == 0, "receive");
    expect(sides[0].send_cq, 1, IBV_WC_SUCCESS);
    expect(sides[0].send_cq, 2, IBV_WC_SUCCESS);
    expect(sides[1].receive_cq, 3, IBV_WC_SUCCESS);
    expect(sides[1].receive_cq, 4, IBV_WC_SUCCESS);
    REQUIRE(strcmp(sides[1].buffer, "patience") == 0, "data");
    pair_close(sides);
}

int main(void)
{
    struct world world;
    world_open(&world);
    gives_up(&world, 0, 1);
    gives_up(&world, 3, 24);
    goes_on(&world);
    world_close(&world);
    return ok("rnr");
}
