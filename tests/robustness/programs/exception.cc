/* exception KIND: a C++ exception leaves a function of the program's that MPI has called: a reduction operation, an error handler, or a
 * function of an attribute. MPI cannot go on, for it may hold locks and other processes wait for it: the process ends there, and
 * "caught" is never printed. */
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <stdexcept>

static void combine(void *, void *, int *, MPI_Datatype *) { throw std::runtime_error("from a reduction"); }
static void handle(MPI_Comm *, int *, ...) { throw std::runtime_error("from an error handler"); }
static int remove_attribute(MPI_Comm, int, void *, void *) { throw std::runtime_error("from an attribute"); }
static int query(void *, MPI_Status *) { throw std::runtime_error("from a request"); }
static int nothing(void *) { return MPI_SUCCESS; }
static int cancel(void *, int) { return MPI_SUCCESS; }

static void act(const char *kind)
{
    int in = 1, out = 0, key;
    if (std::strcmp(kind, "operation") == 0) {
        MPI_Op op;
        MPI_Op_create(combine, 1, &op);
        MPI_Allreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD);
    } else if (std::strcmp(kind, "handler") == 0) {
        MPI_Errhandler handler;
        MPI_Comm_create_errhandler(handle, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Send(&in, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (std::strcmp(kind, "attribute") == 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove_attribute, &key, nullptr);
        MPI_Comm_set_attr(MPI_COMM_WORLD, key, nullptr);
        MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    } else {
        MPI_Request request;
        MPI_Grequest_start(query, nothing, cancel, nullptr, &request);
        MPI_Grequest_complete(request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    std::puts("started exception");
    std::fflush(stdout);
    try {
        act(argv[1]);
    } catch (const std::exception &why) {
        std::printf("caught what was thrown %s\n", why.what());
    }
    std::puts("went on");
    MPI_Finalize();
}
