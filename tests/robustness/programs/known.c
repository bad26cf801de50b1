/* known: messages whose packets are known, each of its own tag, between two ranks; then what the library has counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHORT = 8, LONG = 1 << 21 };
enum { EAGER = 1, SYNCHRONOUS, RENDEZVOUS, CANCELLED_RECEIVE, CANCELLED_SEND, ANSWER, LAST = 99 };

static char buffer[LONG], other[LONG];

static void require(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "known: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int cancelled(MPI_Request *request)
{
    MPI_Status status;
    int flag = 0;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &flag);
    return flag;
}

static MPI_T_pvar_session session;

/* Counts from here on. */
static MPI_T_pvar_handle begin(const char *name)
{
    MPI_T_pvar_handle handle;
    int index = -1, count = 0;
    MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    return handle;
}

static unsigned long long counted(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    MPI_T_pvar_read(session, handle, &value);
    return value;
}

static void send(void)
{
    MPI_Request request;
    MPI_Send(buffer, SHORT, MPI_BYTE, 1, EAGER, MPI_COMM_WORLD);
    MPI_Ssend(buffer, 2 * SHORT, MPI_BYTE, 1, SYNCHRONOUS, MPI_COMM_WORLD);
    MPI_Send(buffer, LONG, MPI_BYTE, 1, RENDEZVOUS, MPI_COMM_WORLD);
    MPI_Recv(other, 0, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(buffer, LONG, MPI_BYTE, 1, CANCELLED_SEND, MPI_COMM_WORLD, &request);
    require(cancelled(&request), "a send without a receive is cancelled");
    MPI_Send(buffer, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
    MPI_Recv(other, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive(void)
{
    MPI_Request request;
    MPI_Recv(other, SHORT, MPI_BYTE, 0, EAGER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(other, 2 * SHORT, MPI_BYTE, 0, SYNCHRONOUS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(other, LONG, MPI_BYTE, 0, RENDEZVOUS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, 0, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
    MPI_Irecv(other, SHORT, MPI_BYTE, 0, CANCELLED_RECEIVE, MPI_COMM_WORLD, &request);
    require(cancelled(&request), "a receive without a message is cancelled");
    MPI_Recv(other, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle eager = begin("weft_messages_eager"), rendezvous = begin("weft_messages_rendezvous");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        send();
    else
        receive();
    printf("rank=%d eager=%llu rendezvous=%llu\n", rank, counted(eager), counted(rendezvous));
    fflush(stdout);
    MPI_T_pvar_session_free(&session);
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
