/* Error handlers of the program's own: MPI-5.0 §9.3. */
#include "check.h"

static int calls, last_code, *last_place;
static MPI_Comm last_comm;

static void record(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_code = *code;
}

static void other(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    last_place = code;
    calls += 100;
}

static void on_file(MPI_File *file, int *code, ...)
{
    CHECK(*file == MPI_FILE_NULL, "MPI-5.0 §9.3.3");
    calls += 10000;
    last_code = *code;
}

static void expect_calls(int expected, const char *clause)
{
    CHECK_EQUAL(calls, expected, clause);
    calls = 0;
}

static void called_by_errors(MPI_Comm comm)
{
    int value = 0, size;
    MPI_Comm_size(comm, &size);
    int code = MPI_Send(&value, 1, MPI_INT, size, 0, comm);
    CHECK_EQUAL(class_of(code), MPI_ERR_RANK, "MPI-5.0 §9.3");
    CHECK(last_comm == comm && last_code == code, "MPI-5.0 §9.3.1: the communicator and the code");
    expect_calls(1, "MPI-5.0 §9.3.1");
    CHECK_CLASS(MPI_Bcast(&value, -1, MPI_INT, 0, comm), MPI_ERR_COUNT, "MPI-5.0 §9.3");
    expect_calls(1, "MPI-5.0 §9.3.1");
    /* The communicator of a request. */
    MPI_Request requests[2];
    MPI_Status status;
    int two[2] = { 1, 2 }, rank;
    MPI_Comm_rank(comm, &rank);
    last_comm = MPI_COMM_NULL;
    MPI_Irecv(&value, 1, MPI_INT, rank, 7, comm, &requests[0]);
    MPI_Isend(two, 2, MPI_INT, rank, 7, comm, &requests[1]);
    CHECK_CLASS(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE, "MPI-5.0 §3.2.6");
    CHECK(last_comm == comm, "MPI-5.0 §9.3.1: the handler of the request's communicator");
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    expect_calls(1, "MPI-5.0 §9.3.1");
    CHECK_EQUAL(MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY), MPI_SUCCESS, "MPI-5.0 §9.5");
    CHECK(last_code == MPI_ERR_TOPOLOGY && last_comm == comm, "MPI-5.0 §9.5");
    expect_calls(1, "MPI-5.0 §9.5");
}

/* Duplicates and parts have the parent's handler. */
static void inherited(MPI_Comm comm)
{
    MPI_Comm twin, part;
    MPI_Comm_dup(comm, &twin);
    called_by_errors(twin);
    MPI_Comm_split(twin, 0, 0, &part);
    called_by_errors(part);
    MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    called_by_errors(part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&twin);
}

/* A handler that is freed while in use goes on; so does one whose communicator is gone. */
static void handles(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler, got, again, none = MPI_ERRORS_RETURN;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(record, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == handler, "MPI-5.0 §9.3.1: the same handler");
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL, "MPI-5.0 §9.3.4");
    called_by_errors(comm);
    MPI_Errhandler kept = got;
    MPI_Errhandler_free(&got);
    called_by_errors(comm);
    MPI_Comm_get_errhandler(comm, &again);
    CHECK(again != MPI_ERRHANDLER_NULL, "MPI-5.0 §9.3.1");
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(again)) == again, "MPI-5.0 §20.3.4");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, again);
    called_by_errors(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, again);
    MPI_Errhandler_free(&again);
    inherited(comm);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&none);
    CHECK(none == MPI_ERRHANDLER_NULL, "MPI-5.0 §9.3.4: a predefined one too");
    (void)kept;
}

/* Errors on no object, and on a handle that is no communicator, are MPI_COMM_SELF's. */
static void on_self(void)
{
    MPI_Errhandler handler;
    MPI_Datatype type;
    int rank;
    MPI_Comm_create_errhandler(record, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT, "MPI-5.0 §9.3");
    CHECK(last_comm == MPI_COMM_SELF, "MPI-5.0 §9.3");
    expect_calls(1, "MPI-5.0 §9.3");
    CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &rank), MPI_ERR_COMM, "MPI-5.0 §9.3");
    CHECK(last_comm == MPI_COMM_SELF, "MPI-5.0 §9.3");
    expect_calls(1, "MPI-5.0 §9.3");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* The communicator's own handler, not the world's. */
static void each_its_own(void)
{
    MPI_Comm one, two;
    MPI_Errhandler first, second;
    int value;
    MPI_Comm_create_errhandler(record, &first);
    MPI_Comm_create_errhandler(other, &second);
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Comm_dup(MPI_COMM_SELF, &two);
    MPI_Comm_set_errhandler(one, first);
    MPI_Comm_set_errhandler(two, second);
    MPI_Send(&value, 1, MPI_INT, 1, 0, one);
    expect_calls(1, "MPI-5.0 §9.3");
    MPI_Send(&value, 1, MPI_INT, 1, 0, two);
    expect_calls(100, "MPI-5.0 §9.3");
    CHECK(last_place != NULL, "MPI-5.0 §9.3");
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    MPI_Errhandler_free(&first);
    MPI_Errhandler_free(&second);
}

/* MPI_FILE_NULL has the default handler of files, at first MPI_ERRORS_RETURN. */
static void files(void)
{
    MPI_Errhandler handler, got;
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == MPI_ERRORS_RETURN, "MPI-5.0 §14.7");
    CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS, "MPI-5.0 §9.5");
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == handler, "MPI-5.0 §9.3.3");
    MPI_Errhandler_free(&got);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
    CHECK_EQUAL(last_code, MPI_ERR_IO, "MPI-5.0 §9.5");
    expect_calls(10000, "MPI-5.0 §9.5");
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "error_functions");
    handles();
    on_self();
    each_its_own();
    files();
    return check_finish();
}
