/* What MPI-5.0 and its ABI have otherwise than the MPI-3.1 that the suite was written for. Included before everything. */
#ifndef ADAPTED_H
#define ADAPTED_H

#include <mpi.h>

/* Removed by MPI-3.0; those that replaced them take the same arguments. */
#define MPI_Type_hvector MPI_Type_create_hvector
#define MPI_Type_hindexed MPI_Type_create_hindexed

/* ROMIO had requests of its own before MPI-2. */
#define MPIO_USES_MPI_REQUEST

/* MPICH's before MPI-4.1 had them. */
#define MPIX_Delete_error_class MPI_Remove_error_class
#define MPIX_Delete_error_code MPI_Remove_error_code
#define MPIX_Delete_error_string MPI_Remove_error_string

/* Errors of calls without a communicator, window, file or session are MPI_COMM_SELF's since MPI-4.0 (§9.3): programs that
 * want those of MPI_COMM_WORLD returned mean these, too. */
static inline int adapted_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    if (comm == MPI_COMM_WORLD)
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    return MPI_Comm_set_errhandler(comm, handler);
}
#define MPI_Comm_set_errhandler adapted_set_errhandler

#endif
