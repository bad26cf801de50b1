/* MPI_Fint and the conversions of handles, which mpi.h makes of the ABI's MPI_X_toint and MPI_X_fromint. */
#include "check.h"

/* There and back, by both names; a predefined handle's integer is the ABI's. */
#define CHECK_CONVERSION(name, type, handle)                                                                \
    do {                                                                                                    \
        type before = (handle);                                                                             \
        MPI_Fint integer = MPI_##name##_c2f(before);                                                        \
        CHECK_EQUAL(integer, MPI_##name##_toint(before), "MPI-5.0 §19.3.4");                                \
        CHECK_EQUAL(PMPI_##name##_c2f(before), integer, "MPI-5.0 §19.3.4");                                 \
        CHECK(MPI_##name##_f2c(integer) == before, "MPI-5.0 §19.3.4", #handle " did not come back");        \
        CHECK(PMPI_##name##_f2c(integer) == before, "MPI-5.0 §19.3.4", #handle " did not come back (PMPI)"); \
    } while (0)

static void predefined(void)
{
    CHECK_CONVERSION(Comm, MPI_Comm, MPI_COMM_WORLD);
    CHECK_CONVERSION(Comm, MPI_Comm, MPI_COMM_NULL);
    CHECK_CONVERSION(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN);
    CHECK_CONVERSION(File, MPI_File, MPI_FILE_NULL);
    CHECK_CONVERSION(Group, MPI_Group, MPI_GROUP_EMPTY);
    CHECK_CONVERSION(Info, MPI_Info, MPI_INFO_ENV);
    CHECK_CONVERSION(Message, MPI_Message, MPI_MESSAGE_NO_PROC);
    CHECK_CONVERSION(Op, MPI_Op, MPI_SUM);
    CHECK_CONVERSION(Request, MPI_Request, MPI_REQUEST_NULL);
    CHECK_CONVERSION(Session, MPI_Session, MPI_SESSION_NULL);
    CHECK_CONVERSION(Type, MPI_Datatype, MPI_DOUBLE);
    CHECK_CONVERSION(Win, MPI_Win, MPI_WIN_NULL);
    CHECK_EQUAL(MPI_Comm_c2f(MPI_COMM_WORLD), 0x101, "MPI-5.0 §20.3.2");
}

/* A library in Fortran gets a communicator and a datatype as integers, and uses them. */
static void made(void)
{
    MPI_Comm comm;
    MPI_Datatype pair;
    int sent[2] = {3, 4}, received[2] = {0, 0}, rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    CHECK_CONVERSION(Comm, MPI_Comm, comm);
    CHECK_CONVERSION(Type, MPI_Datatype, pair);
    MPI_Fint comm_integer = MPI_Comm_c2f(comm), pair_integer = MPI_Type_c2f(pair);
    MPI_Comm_rank(MPI_Comm_f2c(comm_integer), &rank);
    MPI_Request request;
    MPI_Irecv(received, 1, MPI_Type_f2c(pair_integer), rank, 7, MPI_Comm_f2c(comm_integer), &request);
    CHECK_CONVERSION(Request, MPI_Request, request);
    MPI_Send(sent, 1, pair, rank, 7, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(received[0] == 3 && received[1] == 4, "MPI-5.0 §19.3.4", "received %d %d", received[0], received[1]);
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "fortran_handles");
    predefined();
    made();
    check_report();
    MPI_Finalize();
    return 0;
}
