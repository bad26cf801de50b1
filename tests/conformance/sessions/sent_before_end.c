/* What was sent arrives though its sender has ended its session and its program: MPI-5.0 §11.3.1. */
#include "session.h"
#include <unistd.h>

enum { MESSAGES = 200 };

int main(void)
{
    MPI_Session session = open_session();
    MPI_Comm comm = comm_of_set(session, "mpi://WORLD", "end");
    adopt_comm(comm, "sent_before_end");
    if (rank_of_world == size_of_world - 1) {
        for (int to = 0; to < size_of_world - 1; to++)
            for (int i = 0; i < MESSAGES; i++)
                MPI_Send(&i, 1, MPI_INT, to, i, comm);
    } else {
        usleep(50000);
        for (int i = MESSAGES - 1; i >= 0; i--) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, size_of_world - 1, i, comm, MPI_STATUS_IGNORE);
            CHECK_EQUAL(got, i, "MPI-5.0 §11.3.1");
        }
    }
    if (rank_of_world == 0) {
        printf("ok %s checks=%ld\n", program_name, (long)checks_done);
        fflush(stdout);
    }
    MPI_Comm_free(&comm);
    close_session(&session);
    return 0;
}
