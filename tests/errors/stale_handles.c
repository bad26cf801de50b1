/* Handles used after they were freed, and values that never were handles: an error of the handle's class,
 * never a crash. Once freed, a handle's value may come back for a new object, so none is made in between.
 *
 * The standard leaves such programs erroneous (MPI-5.0 §2.5.1, §2.8), so peers may crash; this library
 * promises not to.
 * ranks: 1,2 */
#include "expect.h"

static int value;
static MPI_Status status;

static void freed_communicator(void)
{
    MPI_Comm comm, copy, made;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    copy = comm;
    MPI_Comm_free(&comm);
    EXPECT(MPI_ERR_COMM, MPI_Comm_rank(copy, &value));
    EXPECT(MPI_ERR_COMM, MPI_Comm_size(copy, &value));
    EXPECT(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, copy));
    EXPECT(MPI_ERR_COMM, MPI_Barrier(copy));
    EXPECT(MPI_ERR_COMM, MPI_Comm_dup(copy, &made));
    EXPECT(MPI_ERR_COMM, MPI_Comm_free(&copy));
}

static void freed_group(void)
{
    MPI_Group group, copy, made;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    copy = group;
    MPI_Group_free(&group);
    EXPECT(MPI_ERR_GROUP, MPI_Group_size(copy, &value));
    EXPECT(MPI_ERR_GROUP, MPI_Group_union(copy, MPI_GROUP_EMPTY, &made));
    EXPECT(MPI_ERR_GROUP, MPI_Group_free(&copy));
}

static void freed_type(void)
{
    MPI_Datatype type, copy, made;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    copy = type;
    MPI_Type_free(&type);
    EXPECT(MPI_ERR_TYPE, MPI_Type_size(copy, &value));
    EXPECT(MPI_ERR_TYPE, MPI_Type_contiguous(1, copy, &made));
    EXPECT(MPI_ERR_TYPE, MPI_Send(&value, 1, copy, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_TYPE, MPI_Type_commit(&copy));
    EXPECT(MPI_ERR_TYPE, MPI_Type_free(&copy));
}

static void freed_requests(void)
{
    MPI_Request request, copy;
    int flag;
    MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    copy = request;
    MPI_Request_free(&request);
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&copy));
    EXPECT(MPI_ERR_REQUEST, MPI_Test(&copy, &flag, &status));
    EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&copy));
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    copy = request;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(MPI_ERR_REQUEST, MPI_Wait(&copy, &status));
    EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&copy));
}

static void received_message(void)
{
    int sent = 1;
    MPI_Request request;
    MPI_Message message, copy;
    MPI_Isend(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    copy = message;
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Mrecv(&value, 1, MPI_INT, &copy, &status));
}

/* Pointers to memory of the program's own, to nothing, and odd ones. */
static void never_handles(void)
{
    static long memory[64];
    const uintptr_t values[] = { (uintptr_t)memory, 0x1000, 0x1001, 0xdeadbeef, ~(uintptr_t)0,
                                 (uintptr_t)0x7fffffffffffffff };
    int flag;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Comm comm = (MPI_Comm)values[i];
        MPI_Group group = (MPI_Group)values[i];
        MPI_Datatype type = (MPI_Datatype)values[i];
        MPI_Request request = (MPI_Request)values[i];
        MPI_Message message = (MPI_Message)values[i];
        MPI_Op op = (MPI_Op)values[i];
        MPI_Errhandler handler = (MPI_Errhandler)values[i];
        EXPECT(MPI_ERR_COMM, MPI_Comm_rank(comm, &value));
        EXPECT(MPI_ERR_COMM, MPI_Comm_free(&comm));
        EXPECT(MPI_ERR_GROUP, MPI_Group_size(group, &value));
        EXPECT(MPI_ERR_GROUP, MPI_Group_free(&group));
        EXPECT(MPI_ERR_TYPE, MPI_Type_size(type, &value));
        EXPECT(MPI_ERR_TYPE, MPI_Type_free(&type));
        EXPECT(MPI_ERR_TYPE, MPI_Send(&value, 1, type, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
        EXPECT(MPI_ERR_REQUEST, MPI_Test(&request, &flag, &status));
        EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&request));
        EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
        EXPECT(MPI_ERR_OP, MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, op, MPI_COMM_SELF));
        EXPECT_EITHER(MPI_ERR_ERRHANDLER, MPI_ERR_ARG, MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    }
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "stale_handles");
    freed_communicator();
    freed_group();
    freed_type();
    freed_requests();
    received_message();
    never_handles();
    return expect_finish();
}
