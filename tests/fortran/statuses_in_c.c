/* C's half of statuses_in_c.f90. */
#include <mpi.h>

int c_which_typed(MPI_F08_status *status);
int c_which_typed(MPI_F08_status *status)
{
    return status == MPI_F08_STATUS_IGNORE ? 1 : status == MPI_F08_STATUSES_IGNORE ? 2 : 0;
}

int c_which_old(MPI_Fint *status);
int c_which_old(MPI_Fint *status)
{
    return status == MPI_F_STATUS_IGNORE ? 1 : status == MPI_F_STATUSES_IGNORE ? 2 : 0;
}

static int read_and_change(MPI_Status *status)
{
    int count = -1, tag = status->MPI_TAG;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Status_set_elements(status, MPI_INT, 2 * count);
    status->MPI_TAG++;
    return 1000 * tag + count;
}

int c_reads_typed(MPI_F08_status *typed);
int c_reads_typed(MPI_F08_status *typed)
{
    MPI_Status status;
    MPI_Status_f082c(typed, &status);
    int read = read_and_change(&status);
    MPI_Status_c2f08(&status, typed);
    return read;
}

int c_reads_old(MPI_Fint *old);
int c_reads_old(MPI_Fint *old)
{
    MPI_Status status;
    MPI_Status_f2c(old, &status);
    int read = read_and_change(&status);
    MPI_Status_c2f(&status, old);
    return read;
}

void mpi_recv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm,
               MPI_Fint *status, MPI_Fint *ierror);

int c_receives(MPI_Fint tag);
int c_receives(MPI_Fint tag)
{
    MPI_Fint count = 1, datatype = MPI_Type_c2f(MPI_INT), source = 0, comm = MPI_Comm_c2f(MPI_COMM_SELF), ierror = -1;
    int got = -1;
    mpi_recv_(&got, &count, &datatype, &source, &tag, &comm, MPI_F_STATUS_IGNORE, &ierror);
    return ierror == MPI_SUCCESS ? got : -1;
}
