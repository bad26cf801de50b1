/* A tool that stands before the library (MPI-5.0 §15.2): it counts calls and passes them on. */
#include <mpi.h>

static int calls;

int MPI_Get_version(int *version, int *subversion) {
    calls++;
    return PMPI_Get_version(version, subversion);
}

/* Reports through a function that nobody else intercepts. */
int MPI_Pcontrol(const int level, ...) {
    return level == 77 ? 1000 + calls : PMPI_Pcontrol(level);
}
