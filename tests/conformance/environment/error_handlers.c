/* The predefined error handlers: default, set, get, inheritance, and the error that is raised. */
#include "check.h"

static void is_set_to(MPI_Comm comm, MPI_Errhandler expected, const char *clause)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == expected, clause);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL, "MPI-5.0 §9.3.4");
}

static void set_and_get(void)
{
    is_set_to(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, "MPI-5.0 §9.3: the default");
    is_set_to(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, "MPI-5.0 §9.3: the default");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    is_set_to(MPI_COMM_WORLD, MPI_ERRORS_ABORT, "MPI-5.0 §9.3.1");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    is_set_to(MPI_COMM_WORLD, MPI_ERRORS_RETURN, "MPI-5.0 §9.3.1");
    is_set_to(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, "MPI-5.0 §9.3.1: handlers belong to one communicator");
}

static void inherits(void)
{
    MPI_Comm dup, split;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    is_set_to(dup, MPI_ERRORS_RETURN, "MPI-5.0 §9.3: a new communicator inherits");
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_ABORT);
    is_set_to(MPI_COMM_WORLD, MPI_ERRORS_RETURN, "MPI-5.0 §9.3: the parent keeps its own");
    MPI_Comm_split(dup, rank_of_world % 2, 0, &split);
    is_set_to(split, MPI_ERRORS_ABORT, "MPI-5.0 §9.3: a new communicator inherits");
    MPI_Comm_free(&split);
    MPI_Comm_free(&dup);
}

/* The error is returned, classified, and the library still works. */
static void errors_return(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = -1, sum = -1, one = 1;
    int code = MPI_Send(&one, 1, MPI_INT, size_of_world, 0, MPI_COMM_WORLD);
    CHECK(code != MPI_SUCCESS, "MPI-5.0 §9.3");
    CHECK_EQUAL(class_of(code), MPI_ERR_RANK, "MPI-5.0 §9.4");
    MPI_Error_string(code, text, &length);
    CHECK(length > 0 && (size_t)length == strlen(text), "MPI-5.0 §9.4");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, size_of_world, "MPI-5.0 §9.3: calls go on after a returned error");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "error_handlers");
    set_and_get();
    inherits();
    errors_return();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    is_set_to(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, "MPI-5.0 §9.3.1");
    return check_finish();
}
