/* lost_senders CALL: rank 1 of 3 is killed while the others wait for a message from it, or from any rank of a communicator that
 * it is in, with a call that blocks or in a loop of one that tests. The call says MPI_ERR_PROC_ABORTED, also when it is made
 * after the death. On a communicator of the others alone it gives them the message that comes.
 * The survivors do not let the launcher's SIGTERM end them; they print "ok lost_senders CALL RANK". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int got;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int receive(int source, MPI_Comm comm)
{
    return MPI_Recv(&got, 1, MPI_INT, source, 5, comm, MPI_STATUS_IGNORE);
}

static MPI_Request posted(int source, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, source, 5, comm, &request);
    return request;
}

static int wait(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Of calls on several requests the error is in the status, if it is said to be there. */
static int of(int code, const MPI_Status *status)
{
    int class;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_IN_STATUS ? status->MPI_ERROR : code;
}

static int waitany(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    int index;
    return MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
}

static int waitsome(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    MPI_Status status;
    int count, index;
    return of(MPI_Waitsome(1, &request, &count, &index, &status), &status);
}

static int waitall(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    MPI_Status status;
    return of(MPI_Waitall(1, &request, &status), &status);
}

static int test(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    int done = 0, code = MPI_SUCCESS;
    while (!done && code == MPI_SUCCESS)
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return code;
}

static int testany(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    int done = 0, code = MPI_SUCCESS, index;
    while (!done && code == MPI_SUCCESS)
        code = MPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
    return code;
}

static int testsome(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    MPI_Status status;
    int count = 0, code = MPI_SUCCESS, index;
    while (count == 0 && code == MPI_SUCCESS)
        code = MPI_Testsome(1, &request, &count, &index, &status);
    return of(code, &status);
}

static int testall(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    MPI_Status status;
    int done = 0, code = MPI_SUCCESS;
    while (!done && code == MPI_SUCCESS)
        code = MPI_Testall(1, &request, &done, &status);
    return of(code, &status);
}

/* The status has it; the request stays. */
static int get_status(int source, MPI_Comm comm)
{
    MPI_Request request = posted(source, comm);
    int done = 0;
    while (!done)
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int probe(int source, MPI_Comm comm)
{
    int code = MPI_Probe(source, 5, comm, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? receive(source, comm) : code;
}

static int iprobe(int source, MPI_Comm comm)
{
    int found = 0, code = MPI_SUCCESS;
    while (!found && code == MPI_SUCCESS)
        code = MPI_Iprobe(source, 5, comm, &found, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? receive(source, comm) : code;
}

static int mprobe(int source, MPI_Comm comm)
{
    MPI_Message message;
    int code = MPI_Mprobe(source, 5, comm, &message, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE) : code;
}

static int improbe(int source, MPI_Comm comm)
{
    MPI_Message message;
    int found = 0, code = MPI_SUCCESS;
    while (!found && code == MPI_SUCCESS)
        code = MPI_Improbe(source, 5, comm, &found, &message, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE) : code;
}

static int sendrecv(int source, MPI_Comm comm)
{
    int sent = 1, self;
    MPI_Comm_rank(comm, &self);
    int code = MPI_Sendrecv(&sent, 1, MPI_INT, self, 6, &got, 1, MPI_INT, source, 5, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&sent, 1, MPI_INT, self, 6, comm, MPI_STATUS_IGNORE);
    return code;
}

static int persistent(int source, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Recv_init(&got, 1, MPI_INT, source, 5, comm, &request);
    MPI_Start(&request);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return code;
}

static const struct {
    const char *name;
    int (*run)(int source, MPI_Comm comm);
} calls[] = {
    { "recv", receive },         { "wait", wait },       { "waitany", waitany }, { "waitsome", waitsome },
    { "waitall", waitall },      { "test", test },       { "testany", testany }, { "testsome", testsome },
    { "testall", testall },      { "get_status", get_status }, { "probe", probe },     { "iprobe", iprobe },
    { "mprobe", mprobe },        { "improbe", improbe }, { "sendrecv", sendrecv }, { "persistent", persistent },
};

static void expect(int wanted, int code, const char *call, const char *what, double begin)
{
    int class;
    MPI_Error_class(code, &class);
    if (class == wanted && seconds() - begin < 1.5)
        return;
    printf("%s, %s: class %d, not %d, after %.1f s\n", call, what, class, wanted, seconds() - begin);
    fflush(stdout);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int rank, of_pair, token = 7;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    signal(SIGTERM, SIG_IGN);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &pair);
    MPI_Comm_rank(pair, &of_pair);
    size_t call = 0;
    while (call < sizeof calls / sizeof *calls && strcmp(calls[call].name, argv[1]))
        call++;
    if (call == sizeof calls / sizeof *calls)
        return 2;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        /* Until the others sleep. */
        nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, 0);
        raise(SIGKILL);
    }
    /* Each waits for another form first. */
    int first = rank == 0 ? 1 : MPI_ANY_SOURCE, second = rank == 0 ? MPI_ANY_SOURCE : 1;
    double begin = seconds();
    expect(MPI_ERR_PROC_ABORTED, calls[call].run(first, MPI_COMM_WORLD), argv[1], "the death", begin);
    begin = seconds();
    expect(MPI_ERR_PROC_ABORTED, calls[call].run(second, MPI_COMM_WORLD), argv[1], "after it", begin);
    begin = seconds();
    if (of_pair == 0) {
        expect(MPI_SUCCESS, calls[call].run(MPI_ANY_SOURCE, pair), argv[1], "without the dead", begin);
        MPI_Send(&token, 1, MPI_INT, 1, 5, pair);
    } else {
        nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, 0);
        MPI_Send(&token, 1, MPI_INT, 0, 5, pair);
        expect(MPI_SUCCESS, calls[call].run(0, pair), argv[1], "from another", begin);
    }
    MPI_Barrier(pair);
    if (got != 7)
        return 3;
    printf("ok lost_senders %s %d\n", argv[1], rank);
    fflush(stdout);
    /* Not to be waited for in MPI_Finalize; late enough for a launcher to have read the line. */
    nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, 0);
    _exit(0);
}
