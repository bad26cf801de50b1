/* The status of MPI_Isendrecv and MPI_Isendrecv_replace is that of the receive, also from MPI_PROC_NULL:
 * MPI-5.0 §3.10 starts the operation of MPI_Sendrecv, §3.7.3 returns the status of the completed operation.
 *
 * MPICH 5.0.2 fails: the tag of the status is one of its own. */
#include "check.h"

static void of_the_receive(int bytes)
{
    char *out = need((size_t)bytes), *in = need((size_t)bytes + 10);
    MPI_Request request;
    MPI_Status status;
    memset(out, 1, (size_t)bytes);
    memset(&status, 0x11, sizeof status);
    MPI_Isendrecv(out, bytes, MPI_BYTE, right_neighbour(), 4, in, bytes + 10, MPI_BYTE, MPI_ANY_SOURCE,
                  MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK_EQUAL(status.MPI_SOURCE, left_neighbour(), "MPI-5.0 §3.10");
    CHECK_EQUAL(status.MPI_TAG, 4, "MPI-5.0 §3.10");
    CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §3.10");
    MPI_Barrier(MPI_COMM_WORLD);
    memset(&status, 0x11, sizeof status);
    MPI_Isendrecv_replace(out, bytes, MPI_BYTE, right_neighbour(), 5, MPI_ANY_SOURCE, MPI_ANY_TAG,
                          MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == left_neighbour() && status.MPI_TAG == 5, "MPI-5.0 §3.10");
    CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §3.10");
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

static void of_nothing(void)
{
    int value = 3;
    MPI_Request request;
    MPI_Status status;
    memset(&status, 0x11, sizeof status);
    MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                          &request);
    MPI_Wait(&request, &status);
    CHECK(status_is_proc_null(&status), "MPI-5.0 §3.11");
    CHECK_EQUAL(value, 3, "MPI-5.0 §3.11");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "isendrecv_status");
    of_the_receive(4);
    of_the_receive(40000);
    of_the_receive(1000000);
    of_nothing();
    return check_finish();
}
