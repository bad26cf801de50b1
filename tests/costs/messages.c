/* messages SHARED_FILE ROUNDS alone|threads [trap] prepost|unexpected: windows of 16 eager messages of 8 bytes between two ranks, in
 * phases that do not poll: whatever a phase waits for has already come. The last argument: whether receives are posted before
 * the messages are sent. */
#include "counted.h"

static long values[WINDOW];
static MPI_Request requests[WINDOW];

PHASE(isend, for (int i = 0; i < WINDOW; i++) MPI_Isend(&values[i], 1, MPI_LONG, 1, i, MPI_COMM_WORLD, &requests[i]))
PHASE(isend_wait, MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE))
PHASE(irecv, for (int i = 0; i < WINDOW; i++) MPI_Irecv(&values[i], 1, MPI_LONG, 0, i, MPI_COMM_WORLD, &requests[i]))
PHASE(irecv_wait, MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE))
PHASE(local, int size; for (int i = 0; i < WINDOW; i++) {
    MPI_Comm_rank(MPI_COMM_WORLD, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_size(MPI_LONG, &size);
})

enum { ISEND, ISEND_WAIT, IRECV, IRECV_WAIT, LOCAL, PHASES };
static struct phase phases[PHASES] = {
    [ISEND] = LISTED(isend),           [ISEND_WAIT] = LISTED(isend_wait), [IRECV] = LISTED(irecv),
    [IRECV_WAIT] = LISTED(irecv_wait), [LOCAL] = LISTED(local),
};

static void one_round(int prepost)
{
    int flag;
    if (rank == 1 && prepost)
        run(&phases[IRECV]);
    meet();
    if (rank == 0)
        run(&phases[ISEND]);
    meet();
    if (rank == 1 && !prepost) {
        MPI_Iprobe(0, WINDOW + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* takes the messages in as unexpected */
        run(&phases[IRECV]);
    }
    if (rank == 1)
        run(&phases[IRECV_WAIT]);
    meet();
    if (rank == 0)
        run(&phases[ISEND_WAIT]);
    run(&phases[LOCAL]);
    for (int i = 0; rank == 1 && i < WINDOW; i++)
        if (values[i] != i)
            MPI_Abort(MPI_COMM_WORLD, 3);
    memset(values, 0, rank == 1 ? sizeof values : 0);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int prepost = strcmp(argv[argc - 1], "prepost") == 0;
    for (int i = 0; i < WINDOW; i++)
        values[i] = rank == 0 ? i : 0;
    for (int i = 0; i < WARM_ROUNDS + rounds; i++) {
        warm = i < WARM_ROUNDS;
        one_round(prepost);
    }
    report(phases, PHASES);
    MPI_Finalize();
    return 0;
}
