/* Ranks die at several points; the others agree, shrink and go on. */
#include <signal.h>
#include <unistd.h>

#include <mpi-ext.h>

#include "recovery.h"

/* A process dies while the others wait for it. */
static void barrier(MPI_Comm comm, int dies) {
    if (rank_in(comm) == dies)
        die();
    int error = MPI_Barrier(comm);
    check(error == MPI_SUCCESS || class_of(error) == MPIX_ERR_PROC_FAILED, "a barrier with a dead process: %d", class_of(error));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int size = size_of(comm), dead = size - 1;
    MPI_Barrier(comm);
    double begin = MPI_Wtime();
    barrier(comm, dead);
    double detected = MPI_Wtime() - begin;

    /* Agreement: a value, and one class on all. */
    int flag = rank_in(comm) == 0 ? 6 : 7;
    int error = MPIX_Comm_agree(comm, &flag);
    check(flag == 6, "agreed on %d", flag);
    check(class_of(error) == MPIX_ERR_PROC_FAILED, "agreement before anybody has acknowledged: %d", class_of(error));

    MPI_Group failed;
    int acknowledged = 0, count = 0;
    MPI_Comm_get_failed(comm, &failed);
    MPI_Group_size(failed, &count);
    check(count == 1, "%d have failed", count);
    MPI_Group_free(&failed);
    MPI_Comm_ack_failed(comm, count, &acknowledged);
    check(acknowledged == 1, "%d are acknowledged", acknowledged);
    flag = 3;
    error = MPIX_Comm_agree(comm, &flag);
    check(error == MPI_SUCCESS && flag == 3, "agreement once all have acknowledged: %d, %d", class_of(error), flag);

    /* Revoking ends what others wait in. */
    int revoked = 0, buffer = 0;
    if (rank_in(comm) == 0) {
        usleep(20000);
        MPI_Comm_revoke(comm);
    } else {
        MPI_Status status;
        error = MPI_Recv(&buffer, 1, MPI_INT, 0, 5, comm, &status);
        check(class_of(error) == MPIX_ERR_REVOKED, "a receive when its communicator is revoked: %d", class_of(error));
    }
    MPI_Comm_is_revoked(comm, &revoked);
    check(revoked, "it is revoked");
    error = MPI_Send(&buffer, 1, MPI_INT, 0, 5, comm);
    check(class_of(error) == MPIX_ERR_REVOKED, "a send on what is revoked: %d", class_of(error));
    error = MPI_Barrier(comm);
    check(class_of(error) == MPIX_ERR_REVOKED, "a barrier on what is revoked: %d", class_of(error));

    /* Shrinking works on what is revoked. */
    MPI_Comm left;
    begin = MPI_Wtime();
    error = MPIX_Comm_shrink(comm, &left);
    double shrunk = MPI_Wtime() - begin;
    check(error == MPI_SUCCESS, "shrinking: %d", class_of(error));
    check(size_of(left) == size - 1, "%d are left", size_of(left));
    int sum = 0, one = 1;
    error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left);
    check(error == MPI_SUCCESS && sum == size - 1, "a sum over those that are left: %d", sum);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(left);
    if (rank_in(left) == 0)
        printf("detected in %.1f ms, shrunk in %.3f ms\n", 1e3 * detected, 1e3 * shrunk);
    MPI_Comm_free(&left);
    MPI_Finalize();
    return 0;
}
