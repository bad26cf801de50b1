/* Threads of every process on one window: puts and gets side by side, counters that all count up, locks of different
 * targets (MPI-5.0 §11.6, §12.7). */
#include "team.h"

enum { ROUNDS = 300, SLICE = 512 };

static MPI_Win win;
static char *base;
static long seen[THREADS][ROUNDS];

/* Each thread of each process has a slice of its own at the right neighbour. */
static void put_and_get(int thread)
{
    int to = right_neighbour();
    char out[SLICE], back[SLICE];
    for (int round = 0; round < ROUNDS; round++) {
        fill_pattern(out, SLICE, 100 * rank_of_world + thread + round);
        MPI_Put(out, SLICE, MPI_BYTE, to, thread * SLICE, SLICE, MPI_BYTE, win);
        MPI_Win_flush(to, win);
        MPI_Get(back, SLICE, MPI_BYTE, to, thread * SLICE, SLICE, MPI_BYTE, win);
        MPI_Win_flush_local(to, win);
        CHECK(has_pattern(back, SLICE, 100 * rank_of_world + thread + round), "MPI-5.0 §12.3");
    }
}

static void count(int thread)
{
    long one = 1;
    for (int round = 0; round < ROUNDS; round++)
        MPI_Fetch_and_op(&one, &seen[thread][round], MPI_LONG, 0, THREADS * SLICE, MPI_SUM, win);
    MPI_Win_flush_local(0, win);
}

static void count_wide(int thread)
{
    long double one = 1, old;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG_DOUBLE, 0, THREADS * SLICE + 16, MPI_SUM, win);
        MPI_Win_flush_local(0, win);
        seen[thread][round] = (long)old;
    }
}

static void count_by_comparing(int thread)
{
    long old = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (;;) {
            long expected = old, next = old + 1;
            MPI_Compare_and_swap(&next, &expected, &old, MPI_LONG, 0, THREADS * SLICE + 8, win);
            MPI_Win_flush_local(0, win);
            if (old == expected)
                break;
        }
        seen[thread][round] = old;
    }
}

/* Each number comes to one thread of one process. */
static void check_counted(void)
{
    int total = THREADS * ROUNDS * size_of_world;
    long *all = need(total * sizeof *all);
    char *counted = need(total);
    memset(counted, 0, total);
    MPI_Allgather(seen, THREADS * ROUNDS, MPI_LONG, all, THREADS * ROUNDS, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < total; i++)
        CHECK(all[i] >= 0 && all[i] < total && !counted[all[i]]++, "MPI-5.0 §12.7.1", "%ld", all[i]);
    free(all);
    free(counted);
}

/* In the epoch of a fence: which thread's access is the first does not matter. Small elements and long ones; all threads add to
 * one word. What they put outlives them: it is to stay until the next fence. */
static void put_after_fence(int thread)
{
    static const long one = 1;
    static long all_words[THREADS][4];
    int to = right_neighbour();
    long *words = all_words[thread];
    for (int i = 0; i < 4; i++)
        words[i] = thread + i;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Put(words, 1, MPI_LONG, to, thread * SLICE, 1, MPI_LONG, win);
        MPI_Put(words + 1, 3, MPI_LONG, to, thread * SLICE + 8, 3, MPI_LONG, win);
        MPI_Accumulate(&one, 1, MPI_LONG, to, THREADS * SLICE, 1, MPI_LONG, MPI_SUM, win);
    }
}

static void fenced(void)
{
    long *sum = (long *)(base + THREADS * SLICE);
    *sum = 0;
    MPI_Win_fence(0, win);
    run_team(put_after_fence);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQUAL(*sum, THREADS * ROUNDS, "MPI-5.0 §12.7.1");
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < 4; i++)
            CHECK_EQUAL(((long *)(base + thread * SLICE))[i], thread + i, "MPI-5.0 §12.3.1");
}

/* Threads lock targets of their own; a read-modify-write under the lock loses nothing. */
static void lock_targets(int thread)
{
    if (thread >= size_of_world)
        return;
    int target = (rank_of_world + thread) % size_of_world;
    for (int round = 0; round < 100; round++) {
        long value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "one_sided");
    MPI_Win_allocate(THREADS * SLICE + 32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    run_team(put_and_get);
    run_team(count);
    check_counted();
    run_team(count_by_comparing);
    check_counted();
    run_team(count_wide);
    check_counted();
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    fenced();
    memset(base, 0, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    run_team(lock_targets);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(*(long *)base, 100 * (size_of_world < THREADS ? size_of_world : THREADS), "MPI-5.0 §12.5.3");
    MPI_Win_free(&win);
    return check_finish();
}
