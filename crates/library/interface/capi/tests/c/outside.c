/* A call before MPI_Init, or with an argument after MPI_Finalize or after the last session, is fatal under the initial
 * error handler. */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

static void session(MPI_Group *group)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", group);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Group group;
    if (argc > 1 && strcmp(argv[1], "session") == 0) {
        session(&group);
        session(&group);
        MPI_Group_free(&group);
    }
    if (argc > 1) {
        MPI_Init(NULL, NULL);
        MPI_Finalize();
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 0;
}
