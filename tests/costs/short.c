/* short SHARED_FILE ROUNDS alone|threads [trap] short: collective operations of 8 bytes, 16 of each, whose rank finds what it waits for. So one rank goes
 * first: what it posts stays on the board. */
#include "counted.h"

static double values[WINDOW], got[RANKS * WINDOW], blocks[RANKS * WINDOW];
#define TIMES for (int i = 0; i < WINDOW; i++)
#define OF(count) count, MPI_DOUBLE
#define ROOT 0, MPI_COMM_WORLD

PHASE(reduce_leaf, TIMES MPI_Reduce(&values[i], NULL, OF(1), MPI_SUM, ROOT))
PHASE(reduce_root, TIMES MPI_Reduce(&values[i], &got[i], OF(1), MPI_SUM, ROOT))
PHASE(bcast_root, TIMES MPI_Bcast(&values[i], OF(1), ROOT))
PHASE(bcast_leaf, TIMES MPI_Bcast(&got[i], OF(1), ROOT))
PHASE(gather_leaf, TIMES MPI_Gather(&values[i], OF(1), NULL, OF(1), ROOT))
PHASE(gather_root, TIMES MPI_Gather(&values[i], OF(1), &got[RANKS * i], OF(1), ROOT))
PHASE(scatter_root, TIMES MPI_Scatter(&blocks[RANKS * i], OF(1), &got[i], OF(1), ROOT))
PHASE(scatter_leaf, TIMES MPI_Scatter(NULL, OF(1), &got[i], OF(1), ROOT))

enum { REDUCE_LEAF, REDUCE_ROOT, BCAST_ROOT, BCAST_LEAF, GATHER_LEAF, GATHER_ROOT, SCATTER_ROOT, SCATTER_LEAF, PHASES };
static struct phase phases[PHASES] = {
    [REDUCE_LEAF] = LISTED(reduce_leaf),   [REDUCE_ROOT] = LISTED(reduce_root),   [BCAST_ROOT] = LISTED(bcast_root),
    [BCAST_LEAF] = LISTED(bcast_leaf),     [GATHER_LEAF] = LISTED(gather_leaf),   [GATHER_ROOT] = LISTED(gather_root),
    [SCATTER_ROOT] = LISTED(scatter_root), [SCATTER_LEAF] = LISTED(scatter_leaf),
};

static void want(double found, double wanted)
{
    if (found < wanted || found > wanted)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/* The ranks by turns: no more operations ahead of the other than the board has room for. */
static void one_round(void)
{
    if (rank == 1)
        run(&phases[REDUCE_LEAF]);
    meet();
    if (rank == 0) {
        run(&phases[REDUCE_ROOT]);
        TIMES want(got[i], 3 * i);
        run(&phases[BCAST_ROOT]);
    }
    meet();
    if (rank == 1) {
        run(&phases[BCAST_LEAF]);
        TIMES want(got[i], i);
        run(&phases[GATHER_LEAF]);
    }
    meet();
    if (rank == 0) {
        run(&phases[GATHER_ROOT]);
        TIMES want(got[RANKS * i + 1], 2 * i);
        run(&phases[SCATTER_ROOT]);
    }
    meet();
    if (rank == 1) {
        run(&phases[SCATTER_LEAF]);
        TIMES want(got[i], 100 + i);
    }
    meet();
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    TIMES values[i] = (rank + 1) * i, blocks[RANKS * i + 1] = 100 + i;
    for (int i = 0; i < WARM_ROUNDS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WARM_ROUNDS + rounds; i++) {
        warm = i < WARM_ROUNDS;
        one_round();
    }
    report(phases, PHASES);
    MPI_Finalize();
    return 0;
}
