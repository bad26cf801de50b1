/* collectives SHARED_FILE ROUNDS alone|threads [trap] void: collective operations in which there is nothing to move, 16 of each. */
#include "counted.h"

static long values[WINDOW], got[WINDOW];
static int zeros[RANKS];
#define TIMES for (int i = 0; i < WINDOW; i++)
#define ROOT 0, MPI_COMM_WORLD

PHASE(bcast, TIMES MPI_Bcast(values, 0, MPI_BYTE, ROOT))
PHASE(reduce, TIMES MPI_Reduce(values, got, 0, MPI_FLOAT, MPI_SUM, ROOT))
PHASE(reduce_scatter, TIMES MPI_Reduce_scatter(values, got, zeros, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD))
PHASE(allreduce, TIMES MPI_Allreduce(values, got, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD))
PHASE(allgather, TIMES MPI_Allgather(values, 0, MPI_BYTE, got, 0, MPI_BYTE, MPI_COMM_WORLD))
PHASE(allgatherv, TIMES MPI_Allgatherv(values, 0, MPI_BYTE, got, zeros, zeros, MPI_BYTE, MPI_COMM_WORLD))
PHASE(gather, TIMES MPI_Gather(values, 0, MPI_BYTE, got, 0, MPI_BYTE, ROOT))
PHASE(gatherv, TIMES MPI_Gatherv(values, 0, MPI_BYTE, got, zeros, zeros, MPI_BYTE, ROOT))
PHASE(scatter, TIMES MPI_Scatter(values, 0, MPI_BYTE, got, 0, MPI_BYTE, ROOT))
PHASE(scatterv, TIMES MPI_Scatterv(values, zeros, zeros, MPI_BYTE, got, 0, MPI_BYTE, ROOT))
PHASE(alltoall, TIMES MPI_Alltoall(values, 0, MPI_BYTE, got, 0, MPI_BYTE, MPI_COMM_WORLD))
PHASE(alltoallv, TIMES MPI_Alltoallv(values, zeros, zeros, MPI_BYTE, got, zeros, zeros, MPI_BYTE, MPI_COMM_WORLD))

static struct phase phases[] = {
    LISTED(bcast), LISTED(reduce), LISTED(reduce_scatter), LISTED(allreduce), LISTED(allgather), LISTED(allgatherv),
    LISTED(gather), LISTED(gatherv), LISTED(scatter), LISTED(scatterv), LISTED(alltoall), LISTED(alltoallv),
};

int main(int argc, char **argv) { return count_phases(argc, argv, phases, sizeof phases / sizeof *phases); }
