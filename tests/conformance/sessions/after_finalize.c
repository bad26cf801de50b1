/* A session that begins after MPI_Finalize, with peers that were never talked to: MPI-5.0 §11.3. */
#include "session.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "after_finalize");
    MPI_Finalize();
    for (int i = 0; i < 3; i++) {
        MPI_Session session = open_session();
        MPI_Comm comm = comm_of_set(session, "mpi://WORLD", "late");
        use_comm(comm);
        if (i == 2)
            report_on(comm);
        MPI_Comm_free(&comm);
        close_session(&session);
    }
    return 0;
}
