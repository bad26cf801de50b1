/* Whose error handler is called, with which object and code, and that it is called once: that of the communicator, window,
 * session or file which a call is on, of the communicator of the operation that a request stands for, else of MPI_COMM_SELF.
 * MPI-5.0 §9.3. Calls of the tool interface call none (§15.3.10).
 * ranks: 1,2,4 */
#include "expect.h"

static struct {
    int calls, code;
    char kind;
    const void *object;
} raised;

static void note(char kind, const void *object, int code)
{
    raised.calls++;
    raised.kind = kind;
    raised.object = object;
    raised.code = code;
}

static void on_comm(MPI_Comm *comm, int *code, ...) { note('c', *comm, *code); }
static void on_given(MPI_Comm *comm, int *code, ...) { note('g', *comm, *code); }
static void on_window(MPI_Win *win, int *code, ...) { note('w', *win, *code); }
static void on_session(MPI_Session *session, int *code, ...) { note('s', *session, *code); }
static void on_file(MPI_File *file, int *code, ...) { note('f', *file, *code); }

/* The call's class is `expected`, and so is what the handler of `of` was told. */
#define EXPECT_ON(wanted, of, expected, call) \
    do { \
        raised.calls = 0; \
        EXPECT(expected, call); \
        CHECK(raised.calls == 1, "MPI-5.0 §9.3", #call ": %d calls of handlers", raised.calls); \
        CHECK(raised.kind == (wanted) && raised.object == (const void *)(of), "MPI-5.0 §9.3", \
              #call ": handler of kind %c for %p, not %p", raised.kind, raised.object, (const void *)(of)); \
        CHECK_EQUAL(class_of(raised.code), expected, "MPI-5.0 §9.3"); \
    } while (0)
#define EXPECT_COMM(of, expected, call) EXPECT_ON('c', of, expected, call)
#define EXPECT_SELF(expected, call) EXPECT_ON('c', MPI_COMM_SELF, expected, call)
#define EXPECT_WINDOW(of, expected, call) EXPECT_ON('w', of, expected, call)
#define EXPECT_SESSION(of, expected, call) EXPECT_ON('s', of, expected, call)

static MPI_Errhandler comm_handler, given_handler, window_handler, session_handler, file_handler;
static int value, flag;

static void communicators(MPI_Comm comm)
{
    MPI_Comm made;
    MPI_Win window;
    MPI_Request request;
    int place = 0, n = size_of_world, *base;
    EXPECT_COMM(comm, MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, n, 0, comm));
    EXPECT_COMM(comm, MPI_ERR_COUNT, MPI_Send_c(&value, -1, MPI_INT, 0, 0, comm));
    EXPECT_COMM(comm, MPI_ERR_TAG, MPI_Irecv(&value, 1, MPI_INT, 0, -5, comm, &request));
    EXPECT_COMM(comm, MPI_ERR_TYPE, MPI_Recv_init(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request));
    EXPECT_COMM(comm, MPI_ERR_RANK, MPI_Iprobe(n, 0, comm, &flag, MPI_STATUS_IGNORE));
    EXPECT_COMM(comm, MPI_ERR_RANK, MPI_Sendrecv(&value, 1, MPI_INT, n, 0, &value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    EXPECT_COMM(comm, MPI_ERR_ARG, MPI_Psend_init(&value, 0, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request));
    EXPECT_COMM(comm, MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, n, comm));
    EXPECT_COMM(comm, MPI_ERR_OP, MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_OP_NULL, comm, &request));
    EXPECT_COMM(comm, MPI_ERR_COUNT, MPI_Alltoall_init_c(&value, -1, MPI_INT, &place, -1, MPI_INT, comm, MPI_INFO_NULL, &request));
    EXPECT_COMM(comm, MPI_ERR_ARG, MPI_Comm_rank(comm, NULL));
    EXPECT_COMM(comm, MPI_ERR_COMM, MPI_Comm_compare(comm, MPI_COMM_NULL, &value));
    EXPECT_COMM(comm, MPI_ERR_GROUP, MPI_Comm_create(comm, MPI_GROUP_NULL, &made));
    EXPECT_COMM(comm, MPI_ERR_INFO, MPI_Comm_set_info(comm, MPI_INFO_NULL));
    EXPECT_COMM(comm, MPI_ERR_KEYVAL, MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, NULL));
    EXPECT_COMM(comm, MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(comm, window_handler));
    EXPECT_COMM(comm, MPI_ERR_DIMS, MPI_Cart_create(comm, 1, (int[]){ n + 1 }, (int[]){ 0 }, 0, &made));
    EXPECT_COMM(comm, MPI_ERR_TOPOLOGY, MPI_Cartdim_get(comm, &value));
    EXPECT_COMM(comm, MPI_ERR_RANK, MPI_Intercomm_create(comm, n, MPI_COMM_WORLD, 0, 0, &made));
    EXPECT_COMM(comm, MPI_ERR_TYPE, MPI_Pack(&value, 1, MPI_DATATYPE_NULL, &place, 4, &place, comm));
    EXPECT_COMM(comm, MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, MPI_INFO_NULL, comm, &base, &window));
    EXPECT_COMM(comm, MPI_ERR_INFO, MPI_Win_create_dynamic((MPI_Info)(uintptr_t)0x5000, comm, &window));
}

/* The error of an operation is raised where it completes, on its communicator. */
static void operations(MPI_Comm comm)
{
    int two[2] = { 1, 2 }, one;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int me;
    MPI_Comm_rank(comm, &me);
    MPI_Irecv(&one, 1, MPI_INT, me, 7, comm, &requests[0]);
    MPI_Send(two, 2, MPI_INT, me, 7, comm);
    EXPECT_COMM(comm, MPI_ERR_TRUNCATE, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Irecv(&one, 1, MPI_INT, me, 7, comm, &requests[0]);
    MPI_Irecv(&one, 1, MPI_INT, MPI_PROC_NULL, 7, comm, &requests[1]);
    MPI_Send(two, 2, MPI_INT, me, 7, comm);
    EXPECT_COMM(comm, MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, statuses));
    MPI_Send(two, 2, MPI_INT, me, 7, MPI_COMM_WORLD);
    EXPECT_COMM(MPI_COMM_WORLD, MPI_ERR_TRUNCATE, MPI_Recv(&one, 1, MPI_INT, me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void no_object(MPI_Comm freed)
{
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op = MPI_OP_NULL;
    MPI_Info info;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Session none = MPI_SESSION_NULL;
    EXPECT_SELF(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    EXPECT_SELF(MPI_ERR_COMM, MPI_Barrier(freed));
    EXPECT_SELF(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    EXPECT_SELF(MPI_ERR_SESSION, MPI_Session_finalize(&none));
    EXPECT_SELF(MPI_ERR_GROUP, MPI_Group_union(MPI_GROUP_NULL, MPI_GROUP_EMPTY, &group));
    EXPECT_SELF(MPI_ERR_TYPE, MPI_Type_contiguous_c(1, MPI_DATATYPE_NULL, &type));
    EXPECT_SELF(MPI_ERR_OP, MPI_Op_free(&op));
    EXPECT_SELF(MPI_ERR_INFO, MPI_Info_dup(MPI_INFO_NULL, &info));
    EXPECT_SELF(MPI_ERR_REQUEST, MPI_Start(&request));
    EXPECT_SELF(MPI_ERR_ARG, MPI_Test_cancelled(NULL, &flag));
    EXPECT_SELF(MPI_ERR_BUFFER, MPI_Buffer_attach(NULL, 100));
    EXPECT_SELF(MPI_ERR_ARG, MPI_Alloc_mem(-1, MPI_INFO_NULL, &info));
    EXPECT_SELF(MPI_ERR_BASE, MPI_Free_mem(&value));
    EXPECT_SELF(MPI_ERR_ARG, MPI_Dims_create(0, 1, &value));
    EXPECT_SELF(MPI_ERR_ARG, MPI_Grequest_start(NULL, NULL, NULL, NULL, &request));
    EXPECT_SELF(MPI_ERR_ARG, MPI_Abi_get_info(NULL));
    EXPECT_SELF(MPI_ERR_COUNT, MPI_Reduce_local_c(&value, &flag, -1, MPI_INT, MPI_SUM));
}

static void windows(void)
{
    MPI_Win window, freed;
    int part[4] = { 0 };
    MPI_Win_create(part, sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, window_handler);
    EXPECT_WINDOW(window, MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, window));
    EXPECT_WINDOW(window, MPI_ERR_LOCKTYPE, MPI_Win_lock(99, 0, 0, window));
    EXPECT_WINDOW(window, MPI_ERR_ERRHANDLER, MPI_Win_set_errhandler(window, comm_handler));
    EXPECT_WINDOW(window, MPI_ERR_KEYVAL, MPI_Win_set_attr(window, MPI_WIN_SIZE, NULL));
    MPI_Win_lock_all(0, window);
    EXPECT_WINDOW(window, MPI_ERR_RANK, MPI_Put(&value, 1, MPI_INT, size_of_world, 0, 1, MPI_INT, window));
    EXPECT_WINDOW(window, MPI_ERR_RMA_RANGE, MPI_Get_c(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, window));
    EXPECT_WINDOW(window, MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, window));
    MPI_Win_unlock_all(window);
    freed = window;
    MPI_Win_free(&window);
    EXPECT_SELF(MPI_ERR_WIN, MPI_Win_fence(0, freed));
}

static void sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    char space[16];
    MPI_Session_init(MPI_INFO_NULL, session_handler, &session);
    EXPECT_SESSION(session, MPI_ERR_ARG, MPI_Group_from_session_pset(session, NULL, &group));
    EXPECT_SESSION(session, MPI_ERR_ARG, MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL));
    EXPECT_SESSION(session, MPI_ERR_BUFFER, MPI_Session_attach_buffer_c(session, NULL, sizeof space));
    EXPECT_SESSION(session, MPI_ERR_ERRHANDLER, MPI_Session_set_errhandler(session, comm_handler));
    MPI_Session_finalize(&session);
}

/* Calls on no object that are given a handler for what they make call that one, with no object, whatever is wrong: MPI-5.0
 * §7.4.2, §7.6.2, §11.3.1. One that is no handler for it is MPI_COMM_SELF's matter. */
static void given_handlers(void)
{
    MPI_Info none = MPI_INFO_NULL, bad = (MPI_Info)(uintptr_t)0x5000;
    MPI_Errhandler given = given_handler;
    MPI_Session session;
    MPI_Group self, world, no = MPI_GROUP_NULL;
    MPI_Comm made;
    int n = size_of_world;
#define EXPECT_GIVEN(expected, call) EXPECT_ON('g', MPI_COMM_NULL, expected, call)
    EXPECT_ON('s', MPI_SESSION_NULL, MPI_ERR_INFO, MPI_Session_init(bad, session_handler, &session));
    EXPECT_ON('s', MPI_SESSION_NULL, MPI_ERR_ARG, MPI_Session_init(none, session_handler, NULL));
    EXPECT_SELF(MPI_ERR_ERRHANDLER, MPI_Session_init(none, given, &session));
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    EXPECT_GIVEN(MPI_ERR_GROUP, MPI_Comm_create_from_group(no, "a", none, given, &made));
    EXPECT_GIVEN(MPI_ERR_ARG, MPI_Comm_create_from_group(self, NULL, none, given, &made));
    EXPECT_GIVEN(MPI_ERR_INFO, MPI_Comm_create_from_group(self, "a", bad, given, &made));
    EXPECT_GIVEN(MPI_ERR_ARG, MPI_Comm_create_from_group(self, "a", none, given, NULL));
    EXPECT_SELF(MPI_ERR_ERRHANDLER, MPI_Comm_create_from_group(self, "a", none, MPI_ERRHANDLER_NULL, &made));
    EXPECT_SELF(MPI_ERR_ERRHANDLER, MPI_Comm_create_from_group(self, "a", none, session_handler, &made));
    EXPECT_GIVEN(MPI_ERR_GROUP, MPI_Intercomm_create_from_groups(no, 0, world, 0, "a", none, given, &made));
    EXPECT_GIVEN(MPI_ERR_RANK, MPI_Intercomm_create_from_groups(self, 0, world, n, "a", none, given, &made));
    EXPECT_GIVEN(MPI_ERR_ARG, MPI_Intercomm_create_from_groups(self, 0, world, 0, NULL, none, given, &made));
    EXPECT_GIVEN(MPI_ERR_ARG, MPI_Intercomm_create_from_groups(self, 0, world, 0, "a", none, given, NULL));
    MPI_Group_free(&self);
    MPI_Group_free(&world);
}

static void files_and_tools(void)
{
    MPI_File none = (MPI_File)(uintptr_t)0x5000;
    MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
    EXPECT_ON('f', MPI_FILE_NULL, MPI_ERR_FILE, MPI_File_set_errhandler(none, file_handler));
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    raised.calls = 0;
    CHECK_EQUAL(MPI_T_cvar_get_num(&value), MPI_T_ERR_NOT_INITIALIZED, "MPI-5.0 §15.3.10");
    CHECK_EQUAL(raised.calls, 0, "MPI-5.0 §15.3.10");
}

int main(int argc, char **argv)
{
    MPI_Comm comm, freed;
    expect_start(&argc, &argv, "handler_objects");
    MPI_Comm_create_errhandler(on_comm, &comm_handler);
    MPI_Comm_create_errhandler(on_given, &given_handler);
    MPI_Win_create_errhandler(on_window, &window_handler);
    MPI_Session_create_errhandler(on_session, &session_handler);
    MPI_File_create_errhandler(on_file, &file_handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, comm_handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* with its handler */
    communicators(comm);
    operations(comm);
    freed = comm;
    MPI_Comm_free(&comm);
    no_object(freed);
    windows();
    sessions();
    given_handlers();
    files_and_tools();
    MPI_Errhandler_free(&comm_handler);
    MPI_Errhandler_free(&given_handler);
    MPI_Errhandler_free(&window_handler);
    MPI_Errhandler_free(&session_handler);
    MPI_Errhandler_free(&file_handler);
    return expect_finish();
}
