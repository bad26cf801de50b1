/* gathered: two ranks; 0 sends windows of short messages to 1, which answers each window. The values are checked, and 0 prints
 * "ok gathered MESSAGES REQUESTS", the work requests that its messages took (MPI-5.0 §15.3.7). */
#include "counters.h"

enum { WINDOW = 64, ROUNDS = 300, SETTLING = 50 };

int main(void)
{
    int provided, rank;
    long long values[WINDOW];
    MPI_Request requests[WINDOW];
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_handle posted = MPI_T_PVAR_HANDLE_NULL;
    for (int round = 0; round < ROUNDS; round++) {
        if (round == SETTLING)
            posted = count("weft_rdma_requests", MPI_T_PVAR_CLASS_COUNTER);
        for (int i = 0; i < WINDOW; i++) {
            values[i] = rank == 0 ? (long long)round * WINDOW + i : -1;
            if (rank == 0)
                MPI_Isend(&values[i], 1, MPI_LONG_LONG, 1, i, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(&values[i], 1, MPI_LONG_LONG, 0, i, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WINDOW; i++)
            if (values[i] != (long long)round * WINDOW + i) {
                printf("message %d of window %d has the value %lld\n", i, round, values[i]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, WINDOW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, WINDOW, MPI_COMM_WORLD);
    }
    /* Counts are told now and then. */
    for (int i = 0; i < 100; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("ok gathered %d %llu\n", (ROUNDS - SETTLING) * WINDOW, counted(posted));
    MPI_T_finalize();
    MPI_Finalize();
}
