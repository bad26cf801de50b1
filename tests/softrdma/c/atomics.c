/* Fetch-and-add and compare-and-swap: the old value comes back, nothing is lost between queue pairs, alignment counts. */
#include "case.h"

enum { ADDS = 500, PAIRS = 3 };

static uint64_t *word(struct side *side, size_t offset) { return (uint64_t *)(side->buffer + offset); }

static void atomic(struct side *side, struct side *peer, int opcode, size_t offset, uint64_t compare, uint64_t value)
{
    struct ibv_sge sge = piece(side, 0, 8);
    struct ibv_send_wr wr = request(&sge, peer, 1, opcode, offset);
    wr.wr.atomic.compare_add = compare;
    wr.wr.atomic.swap = value;
    REQUIRE(post_one(side, &wr) == 0, "post");
}

int main(void)
{
    struct world world;
    struct side sides[PAIRS][2];
    world_open(&world);
    for (int i = 0; i < PAIRS; i++)
        pair_open(&world, sides[i], &usual);
    struct side *here = &sides[0][0], *there = &sides[0][1];
    *word(there, 8) = 40;
    atomic(here, there, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 2, 0);
    struct ibv_wc wc = expect(here->send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(wc.opcode == IBV_WC_FETCH_ADD && *word(here, 0) == 40 && *word(there, 8) == 42, "fetch and add");
    atomic(here, there, IBV_WR_ATOMIC_CMP_AND_SWP, 8, 41, 1);
    wc = expect(here->send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(wc.opcode == IBV_WC_COMP_SWAP && *word(here, 0) == 42 && *word(there, 8) == 42, "swap that must not be");
    atomic(here, there, IBV_WR_ATOMIC_CMP_AND_SWP, 8, 42, UINT64_MAX);
    expect(here->send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(*word(here, 0) == 42 && *word(there, 8) == UINT64_MAX, "swap");
    atomic(here, there, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 2, 0);
    expect(here->send_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(*word(there, 8) == 1, "addition wraps");

    /* All queue pairs add to one word at once. */
    *word(there, 16) = 0;
    for (int done = 0; done < ADDS; done += 4) {
        for (int k = 0; k < 4 * PAIRS; k++) {
            struct side *adder = &sides[k % PAIRS][0];
            struct ibv_sge sge = piece(adder, 64, 8);
            struct ibv_send_wr wr = request(&sge, there, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 16);
            wr.wr.atomic.compare_add = 1;
            REQUIRE(post_one(adder, &wr) == 0, "post");
        }
        for (int k = 0; k < 4 * PAIRS; k++)
            expect(sides[k % PAIRS][0].send_cq, 1, IBV_WC_SUCCESS);
    }
    REQUIRE(*word(there, 16) == (uint64_t)ADDS * PAIRS, "%lu additions", (unsigned long)*word(there, 16));

    /* rxe refuses to post what is not aligned. */
    if (!is_rxe(&world)) {
        atomic(here, there, IBV_WR_ATOMIC_FETCH_AND_ADD, 12, 1, 0);
        expect(here->send_cq, 1, IBV_WC_REM_INV_REQ_ERR);
    }
    for (int i = 0; i < PAIRS; i++)
        pair_close(sides[i]);
    world_close(&world);
    return ok("atomics");
}
