/* Wrong arguments of calls on statuses, of those that look at requests without completing them, of names and of buffers' flushes:
 * MPI-5.0 §3.2.5, §3.6, §3.7.6, §5.1.11, §7.8, §9.5, §13.3, §19.3.5.
 * ranks: 1 */
#include "expect.h"

static void statuses(void)
{
    MPI_Status status;
    int number;
    MPI_Count count;
    memset(&status, 0, sizeof status);
    EXPECT(MPI_ERR_ARG, MPI_Get_elements(NULL, MPI_INT, &number));
    EXPECT(MPI_ERR_TYPE, MPI_Get_elements(&status, MPI_DATATYPE_NULL, &number));
    EXPECT(MPI_ERR_ARG, MPI_Get_elements(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Get_elements_c(NULL, MPI_INT, &count));
    EXPECT(MPI_ERR_TYPE, MPI_Get_elements_c(&status, MPI_DATATYPE_NULL, &count));
    EXPECT(MPI_ERR_ARG, MPI_Get_elements_c(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Get_elements_x(NULL, MPI_INT, &count));
    EXPECT(MPI_ERR_TYPE, MPI_Get_elements_x(&status, MPI_DATATYPE_NULL, &count));
    EXPECT(MPI_ERR_ARG, MPI_Get_elements_x(&status, MPI_INT, NULL));
    EXPECT(MPI_ERR_TYPE, MPI_Status_set_elements_x(&status, MPI_DATATYPE_NULL, 1));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Status_set_elements_x(&status, MPI_INT, -1));
    EXPECT(MPI_ERR_ARG, MPI_Status_set_elements_x(NULL, MPI_INT, 1));
    EXPECT(MPI_ERR_ARG, MPI_Status_get_source(NULL, &number));
    EXPECT(MPI_ERR_ARG, MPI_Status_get_source(&status, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Status_get_tag(NULL, &number));
    EXPECT(MPI_ERR_ARG, MPI_Status_get_tag(&status, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Status_get_error(NULL, &number));
    EXPECT(MPI_ERR_ARG, MPI_Status_get_error(&status, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Status_set_source(NULL, 1));
    EXPECT(MPI_ERR_ARG, MPI_Status_set_tag(NULL, 1));
    EXPECT(MPI_ERR_ARG, MPI_Status_set_error(NULL, 1));
}

/* What is no status cannot be converted to one of Fortran's (MPI-5.0 §19.3.5). */
static void of_fortran(void)
{
    MPI_Status status;
    MPI_Fint old[MPI_F_STATUS_SIZE];
    MPI_F08_status typed;
    memset(&status, 0, sizeof status);
    memset(old, 0, sizeof old);
    memset(&typed, 0, sizeof typed);
    EXPECT(MPI_ERR_ARG, MPI_Status_c2f(MPI_STATUS_IGNORE, old));
    EXPECT(MPI_ERR_ARG, MPI_Status_c2f(&status, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Status_f2c(MPI_F_STATUS_IGNORE, &status));
    EXPECT(MPI_ERR_ARG, MPI_Status_f2c(MPI_F_STATUSES_IGNORE, &status));
    EXPECT(MPI_ERR_ARG, MPI_Status_f2c(old, MPI_STATUS_IGNORE));
    EXPECT(MPI_ERR_ARG, MPI_Status_c2f08(MPI_STATUSES_IGNORE, &typed));
    EXPECT(MPI_ERR_ARG, MPI_Status_c2f08(&status, MPI_F08_STATUS_IGNORE));
    EXPECT(MPI_ERR_ARG, MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &status));
    EXPECT(MPI_ERR_ARG, MPI_Status_f082c(&typed, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Status_f2f08(MPI_F_STATUS_IGNORE, &typed));
    EXPECT(MPI_ERR_ARG, MPI_Status_f2f08(old, MPI_F08_STATUSES_IGNORE));
    EXPECT(MPI_ERR_ARG, MPI_Status_f082f(MPI_F08_STATUSES_IGNORE, old));
    EXPECT(MPI_ERR_ARG, MPI_Status_f082f(&typed, MPI_F_STATUS_IGNORE));
}

static void requests(void)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, (MPI_Request)(intptr_t)-1 };
    MPI_Status all[2];
    int flag, index, outcount, indices[2];
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Request_get_status_all(-1, requests, &flag, all));
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Request_get_status_all(1, NULL, &flag, all));
    EXPECT(MPI_ERR_ARG, MPI_Request_get_status_all(1, requests, NULL, all));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_get_status_all(2, requests, &flag, all));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Request_get_status_any(-1, requests, &index, &flag, all));
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Request_get_status_any(1, NULL, &index, &flag, all));
    EXPECT(MPI_ERR_ARG, MPI_Request_get_status_any(1, requests, NULL, &flag, all));
    EXPECT(MPI_ERR_ARG, MPI_Request_get_status_any(1, requests, &index, NULL, all));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_get_status_any(2, requests, &index, &flag, all));
    EXPECT_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, MPI_Request_get_status_some(-1, requests, &outcount, indices, all));
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Request_get_status_some(1, NULL, &outcount, indices, all));
    EXPECT(MPI_ERR_ARG, MPI_Request_get_status_some(1, requests, NULL, indices, all));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_get_status_some(2, requests, &outcount, indices, all));
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Request request;
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &length));
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_name(MPI_COMM_WORLD, name, NULL));
    EXPECT(MPI_ERR_COMM, MPI_Comm_set_name(MPI_COMM_NULL, "name"));
    EXPECT(MPI_ERR_ARG, MPI_Comm_set_name(MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_parent(NULL));
    EXPECT(MPI_ERR_TYPE, MPI_Type_set_name(MPI_DATATYPE_NULL, "name"));
    EXPECT(MPI_ERR_ARG, MPI_Type_set_name(MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_name(MPI_INT, NULL, &length));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_name(MPI_INT, name, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Get_processor_name(NULL, &length));
    EXPECT(MPI_ERR_ARG, MPI_Get_processor_name(name, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Buffer_iflush(NULL));
    EXPECT(MPI_ERR_COMM, MPI_Comm_iflush_buffer(MPI_COMM_NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Comm_iflush_buffer(MPI_COMM_WORLD, NULL));
}

static void error_classes(void)
{
    int class, code, unknown = MPI_ERR_LASTCODE + 1000;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    EXPECT(MPI_ERR_ARG, MPI_Add_error_class(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Add_error_code(class, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Add_error_code(unknown, &code));
    EXPECT(MPI_ERR_ARG, MPI_Add_error_string(MPI_ERR_ARG, "text"));
    EXPECT(MPI_ERR_ARG, MPI_Add_error_string(unknown, "text"));
    EXPECT(MPI_ERR_ARG, MPI_Add_error_string(class, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_string(unknown));
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_string(MPI_ERR_ARG));
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_code(unknown));
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_code(MPI_ERR_ARG));
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_class(unknown));
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_class(MPI_ERR_ARG));
    /* A class that has codes stays: MPI-5.0 §9.5. */
    EXPECT(MPI_ERR_ARG, MPI_Remove_error_class(class));
    CHECK_EQUAL(MPI_Remove_error_code(code), MPI_SUCCESS, "MPI-5.0 §9.5");
    CHECK_EQUAL(MPI_Remove_error_class(class), MPI_SUCCESS, "MPI-5.0 §9.5");
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "status_arguments");
    statuses();
    of_fortran();
    requests();
    names();
    error_classes();
    return expect_finish();
}
