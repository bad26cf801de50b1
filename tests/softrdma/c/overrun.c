/* A completion that finds its queue full: an error of the queue, told as an event, never a lost completion in silence. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    struct options tight = usual;
    tight.cq_entries = 4;
    tight.signal_all = 1;
    world_open(&world);
    pair_open(&world, sides, &tight);
    int entries = sides[0].send_cq->cqe;
    REQUIRE(entries >= 4 && entries < 60, "a queue of 4 has %d entries", entries);
    for (int i = 0; i < 62; i++)
        REQUIRE(post(&sides[0], &sides[1], i, IBV_WR_RDMA_WRITE, 0, 8) == 0, "post %d", i);
    struct ibv_async_event event = await_event(world.context, IBV_EVENT_CQ_ERR);
    REQUIRE(event.element.cq == sides[0].send_cq, "another queue");
    for (int i = 0; i < entries; i++) {
        struct ibv_wc wc;
        int found = ibv_poll_cq(sides[0].send_cq, 1, &wc);
        REQUIRE(found < 0 || (found == 1 && (int)wc.wr_id == i), "entry %d: %d", i, found);
        if (found < 0)
            break;
    }
    pair_close(sides);
    world_close(&world);
    return ok("overrun");
}
