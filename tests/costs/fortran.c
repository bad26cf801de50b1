/* fortran SHARED_FILE ROUNDS alone [trap] fortran: what a call costs in C and in Fortran's interfaces, beside each other. The calls
 * with buffers are sends to MPI_PROC_NULL, of which C's function does little. The other half is in fortran.f90. */
#include "counted.h"

void rank_module(int count);
void isend_module(int count);
void isend_element(int count);
void isend_matrix(int count);
void isend_section(int count);

static long value;
static MPI_Request request;

PHASE(rank_c, for (int i = 0, found; i < WINDOW; i++) MPI_Comm_rank(MPI_COMM_WORLD, &found))
PHASE(rank_module, rank_module(WINDOW))
PHASE(isend_c, for (int i = 0; i < WINDOW; i++) MPI_Isend(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request))
PHASE(isend_module, isend_module(WINDOW))
PHASE(isend_element, isend_element(WINDOW))
PHASE(isend_matrix, isend_matrix(WINDOW))
PHASE(isend_section, isend_section(WINDOW))

static struct phase phases[] = {
    LISTED(rank_c),
    LISTED(rank_module),
    LISTED(isend_c),
    LISTED(isend_module),
    LISTED(isend_element),
    LISTED(isend_matrix),
    LISTED(isend_section),
};

int main(int argc, char **argv) { return count_phases(argc, argv, phases, sizeof phases / sizeof *phases); }
