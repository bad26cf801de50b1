/* windows SHARED_FILE ROUNDS alone|threads [trap] passive: accesses of 8 bytes by rank 0 to rank 1's part of an allocated window
 * that is locked for all, 16 of each, and as many flushes; and of 64 and 4096 elements beside those. */
#include "counted.h"

enum { SHORT = 64, LONG = 4096 };

static int64_t zeros[LONG];
static int64_t values[WINDOW], results[WINDOW], compares[WINDOW], *part;
static MPI_Win win;

PHASE(put, for (int i = 0; i < WINDOW; i++) MPI_Put(&values[i], 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, win))
PHASE(get, for (int i = 0; i < WINDOW; i++) MPI_Get(&results[i], 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, win))
PHASE(accumulate, for (int i = 0; i < WINDOW; i++) MPI_Accumulate(&values[i], 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, MPI_SUM, win))
PHASE(fetch_and_op, for (int i = 0; i < WINDOW; i++) MPI_Fetch_and_op(&values[i], &results[i], MPI_INT64_T, 1, i, MPI_SUM, win))
PHASE(compare_and_swap, for (int i = 0; i < WINDOW; i++)
      MPI_Compare_and_swap(&values[i], &compares[i], &results[i], MPI_INT64_T, 1, i, win))
#define TIMES for (int i = 0; i < WINDOW; i++)
PHASE(put_short, TIMES MPI_Put(zeros, SHORT, MPI_INT64_T, 1, WINDOW, SHORT, MPI_INT64_T, win))
PHASE(put_long, TIMES MPI_Put(zeros, LONG, MPI_INT64_T, 1, WINDOW, LONG, MPI_INT64_T, win))
PHASE(accumulate_short, TIMES MPI_Accumulate(zeros, SHORT, MPI_INT64_T, 1, WINDOW, SHORT, MPI_INT64_T, MPI_SUM, win))
PHASE(accumulate_long, TIMES MPI_Accumulate(zeros, LONG, MPI_INT64_T, 1, WINDOW, LONG, MPI_INT64_T, MPI_SUM, win))
PHASE(flush, for (int i = 0; i < WINDOW; i++) MPI_Win_flush(1, win))

enum { PUT, GET, ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, PUT_SHORT, PUT_LONG, ACCUMULATE_SHORT, ACCUMULATE_LONG, FLUSH, PHASES };
static struct phase phases[PHASES] = {
    [PUT] = LISTED(put),
    [GET] = LISTED(get),
    [ACCUMULATE] = LISTED(accumulate),
    [FETCH_AND_OP] = LISTED(fetch_and_op),
    [COMPARE_AND_SWAP] = LISTED(compare_and_swap),
    [PUT_SHORT] = LISTED(put_short),
    [PUT_LONG] = LISTED(put_long),
    [ACCUMULATE_SHORT] = LISTED(accumulate_short),
    [ACCUMULATE_LONG] = LISTED(accumulate_long),
    [FLUSH] = LISTED(flush),
};

/* What element i of the results or of the target has to be. */
static void check(const int64_t *found, int times, int line)
{
    for (int i = 0; i < WINDOW; i++)
        if (found[i] != times * values[i]) {
            fprintf(stderr, "windows: line %d: element %d is %ld\n", line, i, (long)found[i]);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

static void one_round(void)
{
    run(&phases[PUT]);
    run(&phases[GET]);
    check(results, 1, __LINE__);
    run(&phases[ACCUMULATE]);
    run(&phases[FETCH_AND_OP]);
    check(results, 2, __LINE__);
    MPI_Get(results, WINDOW, MPI_INT64_T, 1, 0, WINDOW, MPI_INT64_T, win);
    check(results, 3, __LINE__);
    memcpy(compares, results, sizeof results);
    run(&phases[COMPARE_AND_SWAP]);
    check(results, 3, __LINE__);
    run(&phases[PUT_SHORT]);
    run(&phases[PUT_LONG]);
    run(&phases[ACCUMULATE_SHORT]);
    run(&phases[ACCUMULATE_LONG]);
    run(&phases[FLUSH]);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    MPI_Win_allocate(sizeof values + sizeof zeros, sizeof values[0], MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    for (int i = 0; i < WINDOW; i++)
        values[i] = i + 1;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < WARM_ROUNDS + rounds; i++) {
        warm = i < WARM_ROUNDS;
        if (rank == 0)
            one_round();
        meet();
    }
    MPI_Win_unlock_all(win);
    if (rank == 1)
        check(part, 1, __LINE__); /* swapped back */
    report(phases, PHASES);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
