/* The integers of handles whose objects live, and of those that are gone. */
#include <mpi.h>
#include <stdio.h>

static int failures;
#define CHECK(condition) ((condition) ? 0 : (failures++, fprintf(stderr, "handles.c:%d: %s\n", __LINE__, #condition)))
#define THERE_AND_BACK(kind, handle) CHECK(MPI_##kind##_toint(handle) < 0 && MPI_##kind##_fromint(MPI_##kind##_toint(handle)) == handle)

int main(void)
{
    int in, out = 5, number;
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype datatype;
    MPI_Request pending, persistent, done, nothing;
    MPI_Message message;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(3, MPI_INT, &datatype);
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, comm, &pending);
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, comm, &persistent);
    MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &done);
    MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &nothing);
    MPI_Request sent;
    MPI_Isend(&out, 1, MPI_INT, 0, 3, comm, &sent);
    MPI_Mprobe(0, 3, comm, &message, MPI_STATUS_IGNORE);

    THERE_AND_BACK(Comm, comm);
    THERE_AND_BACK(Group, group);
    THERE_AND_BACK(Type, datatype);
    THERE_AND_BACK(Request, pending);
    THERE_AND_BACK(Request, persistent);
    THERE_AND_BACK(Request, done);
    THERE_AND_BACK(Request, nothing);
    THERE_AND_BACK(Message, message);
    CHECK(MPI_Request_toint(pending) != MPI_Request_toint(persistent));
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_Win_fromint(-5) == MPI_WIN_NULL);

    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(message == MPI_MESSAGE_NULL && in == 5);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Start(&persistent);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Wait(&done, MPI_STATUS_IGNORE);
    MPI_Wait(&nothing, MPI_STATUS_IGNORE);
    number = MPI_Request_toint(persistent);
    MPI_Request_free(&persistent);
    CHECK(MPI_Request_fromint(number) == MPI_REQUEST_NULL);
    number = MPI_Comm_toint(comm);
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_fromint(number) == MPI_COMM_NULL);
    number = MPI_Type_toint(datatype);
    MPI_Type_free(&datatype);
    CHECK(MPI_Type_fromint(number) == MPI_DATATYPE_NULL);
    number = MPI_Group_toint(group);
    MPI_Group_free(&group);
    CHECK(MPI_Group_fromint(number) == MPI_GROUP_NULL);
    MPI_Finalize();
    return failures != 0;
}
