/* mpi_fortran.h: C's side of Fortran, which mpi.h includes (MPI-5.0 sections 19.3.4 and 19.3.5).
 *
 * The ABI leaves it out, as it does not know how long Fortran's INTEGER is, but programs in C use it. All of it is made
 * of functions of the ABI, so that a program that uses it still runs on every library of this ABI.
 */
#ifndef MPI_FORTRAN_H_ABI
#define MPI_FORTRAN_H_ABI

#ifdef __cplusplus
extern "C" {
#endif

/* The default INTEGER of every compiler. */
typedef int MPI_Fint;

/* ---- Handles ---- */

#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define MPI_Errhandler_f2c MPI_Errhandler_fromint
#define MPI_File_c2f MPI_File_toint
#define MPI_File_f2c MPI_File_fromint
#define MPI_Group_c2f MPI_Group_toint
#define MPI_Group_f2c MPI_Group_fromint
#define MPI_Info_c2f MPI_Info_toint
#define MPI_Info_f2c MPI_Info_fromint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Message_f2c MPI_Message_fromint
#define MPI_Op_c2f MPI_Op_toint
#define MPI_Op_f2c MPI_Op_fromint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Session_c2f MPI_Session_toint
#define MPI_Session_f2c MPI_Session_fromint
#define MPI_Type_c2f MPI_Type_toint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Win_c2f MPI_Win_toint
#define MPI_Win_f2c MPI_Win_fromint
#define PMPI_Comm_c2f PMPI_Comm_toint
#define PMPI_Comm_f2c PMPI_Comm_fromint
#define PMPI_Errhandler_c2f PMPI_Errhandler_toint
#define PMPI_Errhandler_f2c PMPI_Errhandler_fromint
#define PMPI_File_c2f PMPI_File_toint
#define PMPI_File_f2c PMPI_File_fromint
#define PMPI_Group_c2f PMPI_Group_toint
#define PMPI_Group_f2c PMPI_Group_fromint
#define PMPI_Info_c2f PMPI_Info_toint
#define PMPI_Info_f2c PMPI_Info_fromint
#define PMPI_Message_c2f PMPI_Message_toint
#define PMPI_Message_f2c PMPI_Message_fromint
#define PMPI_Op_c2f PMPI_Op_toint
#define PMPI_Op_f2c PMPI_Op_fromint
#define PMPI_Request_c2f PMPI_Request_toint
#define PMPI_Request_f2c PMPI_Request_fromint
#define PMPI_Session_c2f PMPI_Session_toint
#define PMPI_Session_f2c PMPI_Session_fromint
#define PMPI_Type_c2f PMPI_Type_toint
#define PMPI_Type_f2c PMPI_Type_fromint
#define PMPI_Win_c2f PMPI_Win_toint
#define PMPI_Win_f2c PMPI_Win_fromint

/* ---- Statuses ----
 *
 * A status has the same words in all three forms: an array of MPI_F_STATUS_SIZE integers in mpif.h and the module mpi,
 * a derived type in mpi_f08.
 */
typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

/* Fortran's special variables: a common block of the program, or else of libmpifort_abi. A program without either has no
 * Fortran, and these addresses are null in it. */
extern MPI_Fint mpiweft_[22];
#pragma weak mpiweft_

#define MPI_F_STATUS_IGNORE MPI_ABI_Fortran_variable(6)
#define MPI_F_STATUSES_IGNORE MPI_ABI_Fortran_variable(14)
#define MPI_F08_STATUS_IGNORE MPI_ABI_POINTER(MPI_F08_status *, MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE MPI_ABI_POINTER(MPI_F08_status *, MPI_F_STATUSES_IGNORE)

#if defined __cplusplus || (defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L)
#define MPI_ABI_INLINE static inline
#else
#define MPI_ABI_INLINE static __inline
#endif

MPI_ABI_INLINE MPI_Fint *MPI_ABI_Fortran_variable(int place)
{
    MPI_Fint *block = mpiweft_;
    return block ? block + place : block;
}

/* Whether this is neither null, as C's MPI_STATUS_IGNORE is, nor one of Fortran's. */
MPI_ABI_INLINE int MPI_ABI_Status_is_one(const void *status)
{
    return status && status != MPI_F_STATUS_IGNORE && status != MPI_F_STATUSES_IGNORE;
}

/* What is no status is an error as it is to other calls on statuses. */
MPI_ABI_INLINE int MPI_ABI_Status_convert(const void *from, void *to)
{
    const int *words = MPI_ABI_CAST(const int *, from);
    int *copy = MPI_ABI_CAST(int *, to);
    int word;
    if (!MPI_ABI_Status_is_one(from) || !MPI_ABI_Status_is_one(to))
        return PMPI_Status_get_error(MPI_STATUS_IGNORE, &word);
    for (word = 0; word < MPI_F_STATUS_SIZE; word++)
        copy[word] = words[word];
    return MPI_SUCCESS;
}

MPI_ABI_INLINE int MPI_ABI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    return MPI_ABI_Status_convert(c_status, f_status);
}

MPI_ABI_INLINE int MPI_ABI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    return MPI_ABI_Status_convert(f_status, c_status);
}

MPI_ABI_INLINE int MPI_ABI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    return MPI_ABI_Status_convert(c_status, f08_status);
}

MPI_ABI_INLINE int MPI_ABI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    return MPI_ABI_Status_convert(f08_status, c_status);
}

MPI_ABI_INLINE int MPI_ABI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return MPI_ABI_Status_convert(f_status, f08_status);
}

MPI_ABI_INLINE int MPI_ABI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return MPI_ABI_Status_convert(f08_status, f_status);
}

#define MPI_Status_c2f MPI_ABI_Status_c2f
#define MPI_Status_f2c MPI_ABI_Status_f2c
#define MPI_Status_c2f08 MPI_ABI_Status_c2f08
#define MPI_Status_f082c MPI_ABI_Status_f082c
#define MPI_Status_f2f08 MPI_ABI_Status_f2f08
#define MPI_Status_f082f MPI_ABI_Status_f082f
#define PMPI_Status_c2f MPI_ABI_Status_c2f
#define PMPI_Status_f2c MPI_ABI_Status_f2c
#define PMPI_Status_c2f08 MPI_ABI_Status_c2f08
#define PMPI_Status_f082c MPI_ABI_Status_f082c
#define PMPI_Status_f2f08 MPI_ABI_Status_f2f08
#define PMPI_Status_f082f MPI_ABI_Status_f082f

#ifdef __cplusplus
}
#endif

#endif
