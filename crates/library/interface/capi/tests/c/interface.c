/* What needs no MPI_Init, seen from C (and C++). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures;
static const char *program;

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        failures++;
    }
}
#define CHECK(condition) check((condition) ? 1 : 0, #condition)

static void versions(void) {
    int major = -1, minor = -1, length = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
    CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS);
    CHECK(strncmp(text, "WeftMPI ", 8) == 0 && length == (int)strlen(text));
    CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS && length == (int)strlen(name) && length > 0);
}

static void time_passes(void) {
    double before = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    CHECK(MPI_Wtime() >= before);
}

static void handles_as_integers(void) {
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
}

static void status_fields(void) {
    MPI_Status status;
    int value = -1;
    memset(&status, 0, sizeof status);
    CHECK(MPI_Status_set_source(&status, 3) == MPI_SUCCESS && status.MPI_SOURCE == 3);
    CHECK(MPI_Status_set_tag(&status, 4) == MPI_SUCCESS && status.MPI_TAG == 4);
    CHECK(MPI_Status_set_error(&status, MPI_ERR_TAG) == MPI_SUCCESS && status.MPI_ERROR == MPI_ERR_TAG);
    CHECK(MPI_Status_get_source(&status, &value) == MPI_SUCCESS && value == 3);
    CHECK(MPI_Status_get_tag(&status, &value) == MPI_SUCCESS && value == 4);
    CHECK(MPI_Status_get_error(&status, &value) == MPI_SUCCESS && value == MPI_ERR_TAG);
    CHECK(MPI_Test_cancelled(&status, &value) == MPI_SUCCESS && value == 0);
    CHECK(MPI_Status_set_cancelled(&status, 7) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(&status, &value) == MPI_SUCCESS && value == 1);
}

static void errors(void) {
    int length = -1, errorclass = -1;
    char text[MPI_MAX_ERROR_STRING];
    CHECK(MPI_Error_class(MPI_T_ERR_MEMORY, &errorclass) == MPI_SUCCESS && errorclass == MPI_T_ERR_MEMORY);
    CHECK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length) == MPI_SUCCESS && length == (int)strlen(text));
    CHECK(strstr(text, "longer") != NULL);
}

static void addresses(void) {
    char bytes[2] = "";
    MPI_Aint address = 0;
    CHECK(MPI_Get_address(&bytes[1], &address) == MPI_SUCCESS);
    CHECK(address == (MPI_Aint)&bytes[1] && MPI_Aint_diff(address, (MPI_Aint)bytes) == 1);
    CHECK(MPI_Aint_add((MPI_Aint)bytes, 1) == address);
}

/* The properties of Fortran are known from the start. */
static void fortran(void) {
    MPI_Info info;
    char value[8];
    int length = sizeof value, flag = 0, set = 0;
    short yes = 7, no = 7;
    CHECK(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info != MPI_INFO_NULL);
    CHECK(MPI_Info_get_string(info, "mpi_double_precision_size", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag && strcmp(value, "8") == 0 && length == 2);
    length = sizeof value;
    MPI_Info_get_string(info, "mpi_integer16_supported", &length, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    CHECK(MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &set) == MPI_SUCCESS);
    CHECK(set && yes == 1 && no == 0);
}

static void info_objects(void) {
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY], value[16] = "";
    int count = -1, length = 3, flag = -1;
    MPI_Abi_get_info(&info);
    MPI_Info_get_string(info, "mpi_count_size", &length, value, &flag);
    CHECK(flag == 1 && strcmp(value, "8") == 0 && length == 2);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info && MPI_Info_toint(info) < 0);
    MPI_Info_set(info, "first", "a longer value");
    MPI_Info_set(info, "second", "");
    MPI_Info_get_nkeys(info, &count);
    MPI_Info_get_nthkey(info, 1, key);
    CHECK(count == 2 && strcmp(key, "second") == 0);
    /* Room for the terminating null is counted, and what is stored is cut. */
    length = 3;
    MPI_Info_get_string(info, "first", &length, value, &flag);
    CHECK(flag == 1 && strcmp(value, "a ") == 0 && length == 15);
    length = 0;
    CHECK(MPI_Info_get_string(info, "first", &length, NULL, &flag) == MPI_SUCCESS && length == 15);
    MPI_Info_get_string(info, "third", &length, value, &flag);
    CHECK(flag == 0 && length == 15);
    MPI_Info_get(info, "first", 1, value, &flag);
    CHECK(flag == 1 && strcmp(value, "a") == 0);
    MPI_Info_get_valuelen(info, "first", &length, &flag);
    CHECK(flag == 1 && length == 14);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "first");
    MPI_Info_get_nkeys(copy, &count);
    CHECK(count == 2);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    char first[] = "program", second[] = "one", *arguments[] = {first, second, NULL};
    MPI_Info_create_env(2, arguments, &info);
    MPI_Info_get(info, "argv", 15, value, &flag);
    CHECK(flag == 1 && strcmp(value, "one") == 0);
    MPI_Info_free(&info);
    MPI_Info_get(MPI_INFO_ENV, "command", 15, value, &flag);
    CHECK(flag == 1 && strlen(value) <= 15 && strncmp(value, program, strlen(value)) == 0);
}

static void error_codes(void) {
    int own = 0, code = 0, found = 0, length = -1;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&own);
    MPI_Add_error_code(own, &code);
    CHECK(own > MPI_ERR_LASTCODE && code > own);
    MPI_Add_error_string(code, "of our own");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "of our own") == 0 && length == 10);
    MPI_Error_class(code, &found);
    CHECK(found == own);
    MPI_Remove_error_string(code);
    MPI_Error_string(code, text, &length);
    CHECK(length == 0 && text[0] == 0);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(own);
}

int main(int argc, char **argv) {
    (void)argc;
    program = argv[0];
    versions();
    time_passes();
    handles_as_integers();
    status_fields();
    errors();
    addresses();
    fortran();
    info_objects();
    error_codes();
    CHECK(MPI_Pcontrol(1, "more", 2.0) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    return failures != 0;
}
