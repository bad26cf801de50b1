/* The status of a started persistent receive from MPI_PROC_NULL: MPI-5.0 §3.11 makes no
 * exception for the requests of §3.9.
 *
 * MPICH 5.0.2 fails: the status is the empty one of an inactive request. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 9, flag = 0;
    MPI_Request request;
    MPI_Status status;
    check_start(&argc, &argv, "proc_null_persistent");
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&request);
        memset(&status, 0x11, sizeof status);
        if (round == 1)
            for (flag = 0; !flag;)
                MPI_Test(&request, &flag, &status);
        else
            MPI_Wait(&request, &status);
        CHECK(status_is_proc_null(&status), "MPI-5.0 §3.11");
        CHECK_EQUAL(value, 9, "MPI-5.0 §3.11");
    }
    MPI_Wait(&request, &status);
    CHECK(status_is_empty(&status), "MPI-5.0 §3.7.3: inactive now");
    MPI_Request_free(&request);
    return check_finish();
}
