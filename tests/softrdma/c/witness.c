/* Stays in the fabric while others are killed: for each line on its input it exchanges with itself and answers `well`. */
#include "case.h"

int main(void)
{
    struct world world;
    struct side sides[2];
    char line[64];
    world_open(&world);
    pair_open(&world, sides, &usual);
    while (fgets(line, sizeof line, stdin)) {
        REQUIRE(receive(&sides[1], 1, 0, 64) == 0 && post(&sides[0], &sides[1], 2, IBV_WR_SEND, 0, 8) == 0, "post");
        expect(sides[0].send_cq, 2, IBV_WC_SUCCESS);
        expect(sides[1].receive_cq, 1, IBV_WC_SUCCESS);
        printf("well\n");
        fflush(stdout);
    }
    pair_close(sides);
    world_close(&world);
    return 0;
}
