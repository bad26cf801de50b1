/* bereaved OPERATION: rank 1 is killed while the others wait in the operation for it. They, which do not let the launcher's
 * SIGTERM end them, must come out of it soon, with MPI_ERR_PROC_ABORTED whether they wait for rank 1 itself or for each other;
 * then they print "ok bereaved OPERATION RANK". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1 << 18, OUTSTANDING = 100 };

static int in[COUNT], out[COUNT];
static MPI_Comm ring;
static MPI_Group group;
static MPI_Win window;
static MPI_Request prepared;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int waited(int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int ibarrier(void)
{
    MPI_Request request;
    return waited(MPI_Ibarrier(MPI_COMM_WORLD, &request), &request);
}

static int iallreduce(void)
{
    MPI_Request request;
    return waited(MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), &request);
}

/* Many at once; each has the error for itself. */
static int many(void)
{
    MPI_Request requests[OUTSTANDING];
    int code = MPI_SUCCESS, class;
    for (int i = 0; i < OUTSTANDING; i++)
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < OUTSTANDING; i++) {
        code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Error_class(code, &class);
        if (class != MPI_ERR_PROC_ABORTED)
            return code;
    }
    return code;
}

static int ibcast(void)
{
    MPI_Request request;
    return waited(MPI_Ibcast(out, COUNT, MPI_INT, 1, MPI_COMM_WORLD, &request), &request);
}

static int persistent(void) { return waited(MPI_Start(&prepared), &prepared); }

static int ineighbor(void)
{
    MPI_Request request;
    return waited(MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring, &request), &request);
}

static int neighbor(void) { return MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring); }

static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }

static int fence(void) { return MPI_Win_fence(0, window); }

static int duplicate(void)
{
    MPI_Comm comm;
    return MPI_Comm_dup(MPI_COMM_WORLD, &comm);
}

static int iduplicate(void)
{
    MPI_Comm comm;
    MPI_Request request;
    return waited(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request), &request);
}

static int from_group(void)
{
    MPI_Comm comm;
    return MPI_Comm_create_from_group(group, "org.weft.bereaved", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
}

static const struct {
    const char *name;
    int (*run)(void);
} operations[] = {
    { "ibarrier", ibarrier }, { "iallreduce", iallreduce }, { "many", many },         { "ibcast", ibcast },
    { "persistent", persistent }, { "ineighbor", ineighbor }, { "neighbor", neighbor }, { "barrier", barrier },
    { "fence", fence },       { "dup", duplicate },             { "idup", iduplicate },       { "from_group", from_group },
};

static int run(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strcmp(operations[i].name, name))
            return operations[i].run();
    printf("no operation %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    int rank, size, class, text_length, code, *base;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    signal(SIGTERM, SIG_IGN);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[1]){ size }, (int[1]){ 1 }, 0, &ring);
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    MPI_Allreduce_init(in, out, 64, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &prepared);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        /* Until the others sleep. */
        nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, 0);
        raise(SIGKILL);
    }
    double begin = seconds();
    code = run(argv[1]);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &text_length);
    if (seconds() - begin > 2.5 || class != MPI_ERR_PROC_ABORTED) {
        printf("%s, rank %d: class %d after %.1f s: %s\n", argv[1], rank, class, seconds() - begin, text);
        exit(3);
    }
    printf("ok bereaved %s %d\n", argv[1], rank);
    fflush(stdout);
    raise(SIGKILL);
    return 0;
}
