/* The integer values that the standard ABI fixes for predefined handles and constants. */
#include "check.h"

#define HANDLE(handle, value) { #handle, (uintptr_t)(handle), value }

static const struct {
    const char *name;
    uintptr_t actual, expected;
} handles[] = {
    HANDLE(MPI_OP_NULL, 0x20), HANDLE(MPI_SUM, 0x21), HANDLE(MPI_MIN, 0x22), HANDLE(MPI_MAX, 0x23),
    HANDLE(MPI_PROD, 0x24), HANDLE(MPI_BAND, 0x28), HANDLE(MPI_BOR, 0x29), HANDLE(MPI_BXOR, 0x2a),
    HANDLE(MPI_LAND, 0x30), HANDLE(MPI_LOR, 0x31), HANDLE(MPI_LXOR, 0x32), HANDLE(MPI_MINLOC, 0x38),
    HANDLE(MPI_MAXLOC, 0x39), HANDLE(MPI_REPLACE, 0x3c), HANDLE(MPI_NO_OP, 0x3d),
    HANDLE(MPI_COMM_NULL, 0x100), HANDLE(MPI_COMM_WORLD, 0x101), HANDLE(MPI_COMM_SELF, 0x102),
    HANDLE(MPI_GROUP_NULL, 0x108), HANDLE(MPI_GROUP_EMPTY, 0x109), HANDLE(MPI_WIN_NULL, 0x110),
    HANDLE(MPI_FILE_NULL, 0x118), HANDLE(MPI_SESSION_NULL, 0x120), HANDLE(MPI_MESSAGE_NULL, 0x128),
    HANDLE(MPI_MESSAGE_NO_PROC, 0x129), HANDLE(MPI_INFO_NULL, 0x130), HANDLE(MPI_INFO_ENV, 0x131),
    HANDLE(MPI_ERRHANDLER_NULL, 0x140), HANDLE(MPI_ERRORS_ARE_FATAL, 0x141),
    HANDLE(MPI_ERRORS_ABORT, 0x142), HANDLE(MPI_ERRORS_RETURN, 0x143), HANDLE(MPI_REQUEST_NULL, 0x180),
    HANDLE(MPI_DATATYPE_NULL, 0x200), HANDLE(MPI_AINT, 0x201), HANDLE(MPI_COUNT, 0x202),
    HANDLE(MPI_OFFSET, 0x203), HANDLE(MPI_PACKED, 0x207), HANDLE(MPI_INT, 0x209),
    HANDLE(MPI_DOUBLE, 0x214), HANDLE(MPI_C_BOOL, 0x238), HANDLE(MPI_INT8_T, 0x240),
    HANDLE(MPI_CHAR, 0x243), HANDLE(MPI_BYTE, 0x247), HANDLE(MPI_INT64_T, 0x258),
};

#define INTEGER(constant, value) { #constant, constant, value }

static const struct {
    const char *name;
    int actual, expected;
} integers[] = {
    INTEGER(MPI_ANY_SOURCE, -1), INTEGER(MPI_ANY_TAG, -2), INTEGER(MPI_PROC_NULL, -3),
    INTEGER(MPI_ROOT, -4), INTEGER(MPI_UNDEFINED, -32766), INTEGER(MPI_THREAD_SINGLE, 0),
    INTEGER(MPI_THREAD_FUNNELED, 1024), INTEGER(MPI_THREAD_SERIALIZED, 2048),
    INTEGER(MPI_THREAD_MULTIPLE, 4096), INTEGER(MPI_BSEND_OVERHEAD, 512),
    INTEGER(MPI_ERR_LASTCODE, 16383), INTEGER(MPI_ERR_ABI, 62), INTEGER(MPI_ERR_IN_STATUS, 19),
    INTEGER(MPI_ERR_PENDING, 18), INTEGER(MPI_IDENT, 201), INTEGER(MPI_CONGRUENT, 202),
    INTEGER(MPI_SIMILAR, 203), INTEGER(MPI_UNEQUAL, 204), INTEGER(MPI_COMM_TYPE_SHARED, 221),
    INTEGER(MPI_TAG_UB, 501), INTEGER(MPI_MAX_ERROR_STRING, 512),
    INTEGER(MPI_MAX_LIBRARY_VERSION_STRING, 8192), INTEGER(MPI_MAX_PROCESSOR_NAME, 256),
};

static void layout(void)
{
    MPI_Status status;
    CHECK_EQUAL(sizeof status, 32, "MPI-5.0 §20.3: the status has eight int");
    CHECK((char *)&status.MPI_SOURCE == (char *)&status, "MPI-5.0 §20.3");
    CHECK((char *)&status.MPI_TAG == (char *)&status + 4, "MPI-5.0 §20.3");
    CHECK((char *)&status.MPI_ERROR == (char *)&status + 8, "MPI-5.0 §20.3");
    CHECK_EQUAL(sizeof(MPI_Aint), sizeof(void *), "MPI-5.0 §20.3");
    CHECK(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "MPI-5.0 §20.3");
    CHECK_EQUAL(sizeof(MPI_Comm), sizeof(void *), "MPI-5.0 §20.3: handles are pointers");
}

/* Handles of the user's objects stay out of the range of the predefined ones. */
static void user_handles(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Request request;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request);
    CHECK((uintptr_t)comm > 4095 && (uintptr_t)group > 4095, "MPI-5.0 §20.3.4");
    CHECK((uintptr_t)type > 4095 && (uintptr_t)request > 4095, "MPI-5.0 §20.3.4");
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    CHECK((uintptr_t)request == 0x180 && (uintptr_t)type == 0x200, "MPI-5.0 §20.3.4");
    CHECK((uintptr_t)group == 0x108 && (uintptr_t)comm == 0x100, "MPI-5.0 §20.3.4");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "constants");
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        CHECK(handles[i].actual == handles[i].expected, "MPI-5.0 App. A: ABI values", "%s is 0x%zx",
              handles[i].name, (size_t)handles[i].actual);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        CHECK(integers[i].actual == integers[i].expected, "MPI-5.0 App. A: ABI values", "%s is %d",
              integers[i].name, integers[i].actual);
    CHECK(MPI_BOTTOM == (void *)0 && MPI_IN_PLACE == (void *)1, "MPI-5.0 App. A: ABI values");
    CHECK(MPI_STATUS_IGNORE == (MPI_Status *)0 && MPI_STATUSES_IGNORE == (MPI_Status *)0,
          "MPI-5.0 App. A: ABI values");
    layout();
    user_handles();
    return check_finish();
}
