/* Succeeds only under tool.c. */
#include <mpi.h>

int main(void) {
    int version = 0, subversion = -1;
    MPI_Get_version(&version, &subversion);
    PMPI_Get_version(&version, &subversion);
    return !(version == 5 && subversion == 0 && MPI_Pcontrol(77, "ignored", 1) == 1001);
}
