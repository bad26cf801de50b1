/* Ranks die one after the other during traffic, at moments drawn by a seed, until two are left. After each death the others
 * revoke, agree, shrink and go on; what they have counted by then is right.
 *
 *     until_two SEED
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi-ext.h>

#include "recovery.h"

enum { LEFT = 2, LONGEST = 1 << 17 };

static unsigned state;

static unsigned drawn(unsigned end) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % end;
}

/* Some traffic; the first error ends it. */
static int traffic(MPI_Comm comm, int round) {
    static char out[LONGEST], in[LONGEST];
    int rank = rank_in(comm), size = size_of(comm), error = MPI_SUCCESS;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, bytes = 1 << (round % 18);
    long one = 1, sum = 0;
    MPI_Request requests[2];
    if (!error)
        error = MPI_Sendrecv(out, bytes, MPI_CHAR, next, 1, in, bytes, MPI_CHAR, before, 1, comm, MPI_STATUS_IGNORE);
    if (!error)
        error = MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
    if (!error)
        check(sum == size, "a sum of %ld over %d ranks", sum, size);
    if (!error)
        error = MPI_Irecv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, 2, comm, &requests[0]);
    if (!error)
        error = MPI_Isend(out, bytes, MPI_CHAR, before, 2, comm, &requests[1]);
    if (!error)
        error = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!error)
        error = MPI_Bcast(in, bytes, MPI_CHAR, round % size, comm);
    return error;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me = rank_in(MPI_COMM_WORLD), number = size_of(MPI_COMM_WORLD);
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    /* All draw who dies when, alike. */
    state = seed;
    int order[64], moment[64];
    check(number <= 64, "at most 64 ranks");
    for (int i = 0; i < number; i++)
        order[i] = i;
    for (int i = number - 1; i > 0; i--) {
        int other = (int)drawn((unsigned)i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < number; i++)
        moment[i] = (int)drawn(40000);

    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int deaths = 0;
    for (int round = 0; size_of(comm) > LEFT; round++) {
        if (order[deaths] == me && drawn(4) == 0) {
            usleep((unsigned)moment[deaths]);
            die();
        }
        int error = traffic(comm, round);
        int class = class_of(error);
        check(!error || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED || class == MPI_ERR_IN_STATUS, "traffic failed with class %d", class);
        int fine = error == MPI_SUCCESS;
        if (error)
            MPI_Comm_revoke(comm);
        MPIX_Comm_failure_ack(comm);
        MPIX_Comm_agree(comm, &fine);
        if (fine)
            continue;
        MPI_Comm left;
        int before = size_of(comm);
        error = MPIX_Comm_shrink(comm, &left);
        check(!error, "shrinking failed with class %d", class_of(error));
        deaths += before - size_of(left);
        MPI_Comm_free(&comm);
        comm = left;
    }
    check(deaths == number - LEFT, "%d deaths were counted", deaths);
    if (rank_in(comm) == 0)
        printf("survived %d deaths\n", deaths);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
