/* requests SHARED_FILE ROUNDS alone|threads [trap] requests: starting, testing and waiting for requests that are not one message:
 * persistent, send-receive and generalized ones, and any or some of several. What they wait for has come. */
#include "counted.h"

static long values[WINDOW], got[WINDOW];
static MPI_Request persistent[WINDOW], pairs[WINDOW], generalized[WINDOW], one_sided[WINDOW];
static int indices[WINDOW], completed;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 0;
    return MPI_SUCCESS;
}
static int let_go(void *state) { return (void)state, MPI_SUCCESS; }
static int cancel(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

PHASE(start, for (int i = 0; i < WINDOW; i++) MPI_Start(&persistent[i]))
PHASE(persistent_test, for (int i = 0, flag; i < WINDOW; i++) MPI_Test(&persistent[i], &flag, MPI_STATUS_IGNORE))
PHASE(persistent_wait, for (int i = 0; i < WINDOW; i++) MPI_Wait(&persistent[i], MPI_STATUS_IGNORE))
PHASE(pair_wait, for (int i = 0; i < WINDOW; i++) MPI_Wait(&pairs[i], MPI_STATUS_IGNORE))
PHASE(generalized_wait, for (int i = 0; i < WINDOW; i++) MPI_Wait(&generalized[i], MPI_STATUS_IGNORE))
PHASE(waitany, for (int i = 0, index; i < WINDOW; i++) MPI_Waitany(WINDOW, one_sided, &index, MPI_STATUS_IGNORE))
/* The rank waits a turn at least: its own message is the last in the lane. */
PHASE(waitsome, MPI_Waitsome(WINDOW, one_sided, &completed, indices, MPI_STATUSES_IGNORE))

enum { START, PERSISTENT_TEST, PERSISTENT_WAIT, PAIR_WAIT, GENERALIZED_WAIT, WAITANY, WAITSOME, PHASES };
static struct phase phases[PHASES] = {
    [START] = LISTED(start),
    [PERSISTENT_TEST] = LISTED(persistent_test),
    [PERSISTENT_WAIT] = LISTED(persistent_wait),
    [PAIR_WAIT] = LISTED(pair_wait),
    [GENERALIZED_WAIT] = LISTED(generalized_wait),
    [WAITANY] = LISTED(waitany),
    [WAITSOME] = LISTED(waitsome),
};

/* Each rank by itself: what a message to another costs is counted elsewhere. */
static void one_round(void)
{
    for (int by_test = 0; by_test < 2; by_test++) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(&got[i], 1, MPI_LONG, rank, i, MPI_COMM_WORLD, &one_sided[i]);
        run(&phases[START]);
        run(&phases[by_test ? PERSISTENT_TEST : PERSISTENT_WAIT]);
        MPI_Waitall(WINDOW, one_sided, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < WINDOW; i++)
        MPI_Isendrecv(&values[i], 1, MPI_LONG, rank, i, &got[i], 1, MPI_LONG, rank, i, MPI_COMM_WORLD, &pairs[i]);
    run(&phases[PAIR_WAIT]);
    for (int i = 0; i < WINDOW; i++) {
        MPI_Grequest_start(query, let_go, cancel, NULL, &generalized[i]);
        MPI_Grequest_complete(generalized[i]);
    }
    run(&phases[GENERALIZED_WAIT]);
    for (int some = 0; some < 2; some++) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(&got[i], 1, MPI_LONG, !rank, i, MPI_COMM_WORLD, &one_sided[i]);
        meet();
        for (int i = 0; i < WINDOW; i++)
            MPI_Send(&values[i], 1, MPI_LONG, !rank, i, MPI_COMM_WORLD);
        meet();
        run(&phases[some ? WAITSOME : WAITANY]);
        MPI_Waitall(WINDOW, one_sided, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    for (int i = 0; i < WINDOW; i++)
        MPI_Send_init(&values[i], 1, MPI_LONG, rank, i, MPI_COMM_WORLD, &persistent[i]);
    for (int i = 0; i < WARM_ROUNDS + rounds; i++) {
        warm = i < WARM_ROUNDS;
        one_round();
    }
    for (int i = 0; i < WINDOW; i++)
        MPI_Request_free(&persistent[i]);
    report(phases, PHASES);
    MPI_Finalize();
    return 0;
}
