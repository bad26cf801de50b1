/* What a wrong call says when nobody handles its error, MPI_ERRORS_ARE_FATAL: the function and the argument by the standard's names.
 * The text is this library's; peers word theirs otherwise. Each call is made in a process of its own, which the call ends.
 * ranks: 1 */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int value, list[2] = { 0, -1 };
static MPI_Request request;
static MPI_Comm comm;
static MPI_Group group, freed;
static MPI_Datatype type, none = MPI_DATATYPE_NULL, ints[1] = { MPI_INT }; /* `type` is not committed */
static int one[1] = { 1 };
static MPI_Op op;
static MPI_Info info;
static MPI_Win win;
static MPI_Aint place;
static void *base;

/* The argument, the function, its arguments. */
#define CALLS(CALL) \
    CALL("buf", MPI_Send, (NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)) \
    CALL("count", MPI_Send_c, (&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) \
    CALL("datatype", MPI_Send, (&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)) \
    CALL("dest", MPI_Isend, (&value, 1, MPI_INT, 9, 0, MPI_COMM_WORLD, &request)) \
    CALL("tag", MPI_Ssend, (&value, 1, MPI_INT, 0, -7, MPI_COMM_WORLD)) \
    CALL("comm", MPI_Send, (&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) \
    CALL("request", MPI_Isend, (&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL)) \
    CALL("source", MPI_Recv, (&value, 1, MPI_INT, 9, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) \
    CALL("flag", MPI_Iprobe, (0, 0, MPI_COMM_WORLD, NULL, MPI_STATUS_IGNORE)) \
    CALL("message", MPI_Mrecv, (&value, 1, MPI_INT, NULL, MPI_STATUS_IGNORE)) \
    CALL("sendtag", MPI_Sendrecv, (&value, 1, MPI_INT, 0, -9, list, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) \
    CALL("recvtag", MPI_Sendrecv_c, (&value, 1, MPI_INT, 0, 0, list, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) \
    CALL("request", MPI_Start, (&request)) \
    CALL("array_of_requests", MPI_Waitall, (1, NULL, MPI_STATUSES_IGNORE)) \
    CALL("status", MPI_Get_count, (NULL, MPI_INT, &value)) \
    CALL("size", MPI_Buffer_attach, (list, -1)) \
    CALL("partitions", MPI_Psend_init, (&value, 0, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request)) \
    CALL("oldtype", MPI_Type_contiguous, (1, MPI_DATATYPE_NULL, &type)) \
    CALL("blocklength", MPI_Type_vector_c, (1, -1, 1, MPI_INT, &type)) \
    CALL("newtype", MPI_Type_dup, (MPI_INT, NULL)) \
    CALL("array_of_types", MPI_Type_create_struct, (1, one, &place, &none, &type)) \
    CALL("incount", MPI_Pack, (&value, -1, MPI_INT, list, 8, &value, MPI_COMM_WORLD)) \
    CALL("group1 or group2", MPI_Group_difference, (freed, MPI_GROUP_EMPTY, &group)) \
    CALL("order", MPI_Type_create_subarray, (1, (int[]){ 2 }, (int[]){ 1 }, list, 999, MPI_INT, &type)) \
    CALL("position", MPI_Pack, (&value, 1, MPI_INT, list, 8, NULL, MPI_COMM_WORLD)) \
    CALL("datarep", MPI_Pack_external, ("native", &value, 1, MPI_INT, list, 8, &place)) \
    CALL("root", MPI_Bcast, (&value, 1, MPI_INT, 9, MPI_COMM_WORLD)) \
    CALL("sendbuf", MPI_Allreduce, (NULL, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)) \
    CALL("buffer", MPI_Ibcast, (NULL, 1, MPI_INT, 0, MPI_COMM_WORLD, &request)) \
    CALL("recvbuf", MPI_Scan_c, (&value, NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)) \
    CALL("sendcount", MPI_Allgather, (&value, -1, MPI_INT, list, 1, MPI_INT, MPI_COMM_WORLD)) \
    CALL("sendtype", MPI_Gather_init, (&value, 1, type, list, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request)) \
    CALL("recvtype", MPI_Alltoall_c, (&value, 1, MPI_INT, list, 1, type, MPI_COMM_WORLD)) \
    CALL("recvcounts", MPI_Allgatherv, (&value, 1, MPI_INT, list, list + 1, list, MPI_INT, MPI_COMM_WORLD)) \
    CALL("sendtypes", MPI_Ialltoallw, (&value, one, list, &type, list, one, list, ints, MPI_COMM_WORLD, &request)) \
    CALL("recvcount", MPI_Sendrecv, (&value, 1, MPI_INT, 0, 0, list, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) \
    CALL("sendtype", MPI_Isendrecv, (&value, 1, type, 0, 0, list, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request)) \
    CALL("op", MPI_Ireduce_c, (&value, list, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD, &request)) \
    CALL("recvtypes", MPI_Alltoallw, (&value, one, list, ints, list + 1, one, list, NULL, MPI_COMM_WORLD)) \
    CALL("user_fn", MPI_Op_create, (NULL, 1, &op)) \
    CALL("color", MPI_Comm_split, (MPI_COMM_WORLD, -5, 0, &comm)) \
    CALL("group", MPI_Comm_create, (MPI_COMM_WORLD, MPI_GROUP_NULL, &comm)) \
    CALL("ranks", MPI_Group_incl, (group, 2, list, &group)) \
    CALL("group2", MPI_Group_union, (group, MPI_GROUP_NULL, &group)) \
    CALL("comm_keyval", MPI_Comm_set_attr, (MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value)) \
    CALL("local_leader", MPI_Intercomm_create, (MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 0, &comm)) \
    CALL("dims", MPI_Cart_create, (MPI_COMM_WORLD, 1, (int[]){ 9 }, list, 0, &comm)) \
    CALL("ndims", MPI_Dims_create, (6, -1, list)) \
    CALL("errhandler", MPI_Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRHANDLER_NULL)) \
    CALL("errorclass", MPI_Add_error_code, (1 << 29, &value)) \
    CALL("size", MPI_Alloc_mem, (-1, MPI_INFO_NULL, &base)) \
    CALL("base", MPI_Free_mem, (&value)) \
    CALL("key", MPI_Info_set, (info, "", "value")) \
    CALL("info", MPI_Info_set, (MPI_INFO_NULL, "key", "value")) \
    CALL("stringtag", MPI_Comm_create_from_group, (group, NULL, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm)) \
    CALL("pset_name", MPI_Group_from_session_pset, (MPI_SESSION_NULL, NULL, &group)) \
    CALL("disp_unit", MPI_Win_create, (&value, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win)) \
    CALL("target_rank", MPI_Put, (&value, 1, MPI_INT, 9, 0, 1, MPI_INT, win)) \
    CALL("target_disp", MPI_Get_c, (&value, 1, MPI_INT, 0, -4, 1, MPI_INT, win)) \
    CALL("origin_datatype", MPI_Accumulate, (&value, 1, type, 0, 0, 1, MPI_INT, MPI_SUM, win)) \
    CALL("origin_addr", MPI_Put, (NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win)) \
    CALL("target_datatype", MPI_Get, (&value, 1, MPI_INT, 0, 0, 1, type, win)) \
    CALL("result_addr", MPI_Get_accumulate, (&value, 1, MPI_INT, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win)) \
    CALL("compare_addr", MPI_Compare_and_swap, (&value, NULL, list, MPI_INT, 0, 0, win)) \
    CALL("win_keyval", MPI_Win_delete_attr, (win, MPI_KEYVAL_INVALID)) \
    CALL("type_keyval", MPI_Type_set_attr, (MPI_INT, -5, NULL)) \
    CALL("win", MPI_Win_fence, (0, MPI_WIN_NULL)) \
    CALL("lock_type", MPI_Win_lock, (99, 0, 0, win)) \
    CALL("query_fn", MPI_Grequest_start, (NULL, NULL, NULL, NULL, &request)) \
    CALL("logical_size", MPI_Abi_set_fortran_booleans, (3, &value, list))

static const struct {
    const char *function, *argument;
} rows[] = {
#define ROW(argument, function, arguments) { #function, argument },
    CALLS(ROW)
};
enum { ROWS = sizeof rows / sizeof *rows };

static void make(int row)
{
    int at = 0;
#define MAKE(argument, function, arguments) \
    if (row == at++) \
        function arguments;
    CALLS(MAKE)
}

/* Comes back only if the call did. */
static void call_wrongly(int row)
{
    MPI_Init(NULL, NULL);
    request = MPI_REQUEST_NULL;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, list, &freed);
    MPI_Group copy = freed;
    MPI_Group_free(&copy);
    MPI_Info_create(&info);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    make(row);
}

/* What the process said, and how it ended: one that no launcher knows of. */
static int said_by(int row, char *text, size_t room)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t got;
    fflush(NULL);
    CHECK(pipe(ends) == 0, "pipe(2)");
    pid_t child = fork();
    if (child == 0) {
        char number[16], *arguments[] = { "named_argument", number, NULL }, *environment[] = { NULL };
        snprintf(number, sizeof number, "%d", row);
        dup2(ends[1], 2);
        execve("/proc/self/exe", arguments, environment);
        _exit(127);
    }
    close(ends[1]);
    while (length < room - 1 && (got = read(ends[0], text + length, room - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child, "waitpid(2)");
    return status;
}

int main(int argc, char **argv)
{
    static char said[ROWS][1024];
    static int ended[ROWS];
    if (argc > 1) {
        call_wrongly(atoi(argv[1]));
        return 0;
    }
    for (int row = 0; row < ROWS; row++)
        ended[row] = said_by(row, said[row], sizeof said[row]);
    check_start(&argc, &argv, "named_argument");
    int wrong = 0;
    for (int row = 0; row < ROWS; row++) {
        char expected[128];
        snprintf(expected, sizeof expected, "%s: %s", rows[row].function, rows[row].argument);
        const char *found = strstr(said[row], expected);
        checks_done++;
        /* The name ends there, or is an array's with the index behind it. */
        if (found && strchr(":[", found[strlen(expected)]) && WIFEXITED(ended[row]) && WEXITSTATUS(ended[row]) != 0)
            continue;
        wrong++;
        fprintf(stderr, "expected \"%s:\", status %#x: %s\n", expected, (unsigned)ended[row], said[row]);
    }
    CHECK_EQUAL(wrong, 0, "MPI-5.0 §9.3");
    return check_finish();
}
