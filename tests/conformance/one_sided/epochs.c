/* Epochs of every kind (MPI-5.0 §12.5): what was put before an epoch's end is there after it. */
#include "windows.h"

enum { ROUNDS = 50 };

/* Fences separate what is read from what is written, round after round. */
static void fences(int flavor)
{
    struct window w = open_window(flavor, 64);
    int *part = (int *)w.base, to = right_neighbour();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    for (int round = 1; round <= ROUNDS; round++) {
        int value = 1000 * rank_of_world + round, seen = -1;
        MPI_Put(&value, 1, MPI_INT, to, at(&w, to, 0), 1, MPI_INT, w.win);
        MPI_Win_fence(0, w.win);
        CHECK_EQUAL(part[0], 1000 * left_neighbour() + round, "§12.5.1");
        MPI_Get(&seen, 1, MPI_INT, to, at(&w, to, 0), 1, MPI_INT, w.win);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w.win);
        CHECK_EQUAL(seen, value, "§12.5.1");
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    close_window(&w);
}

/* Everybody exposes to its left neighbour and accesses its right one. */
static void ring(int flavor, int with_test)
{
    struct window w = open_window(flavor, 64);
    int *part = (int *)w.base, to = right_neighbour(), from = left_neighbour();
    MPI_Group world, origins, targets;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &from, &origins);
    MPI_Group_incl(world, 1, &to, &targets);
    for (int round = 1; round <= ROUNDS; round++) {
        int value = 1000 * rank_of_world + round, over = 0;
        MPI_Win_post(origins, 0, w.win);
        MPI_Win_start(targets, 0, w.win);
        MPI_Put(&value, 1, MPI_INT, to, at(&w, to, 0), 1, MPI_INT, w.win);
        MPI_Win_complete(w.win);
        if (with_test)
            while (!over)
                MPI_Win_test(w.win, &over);
        else
            MPI_Win_wait(w.win);
        CHECK_EQUAL(part[0], 1000 * from + round, "§12.5.2");
        part[0] = 0;
    }
    MPI_Group_free(&world);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
    close_window(&w);
}

/* Everybody accesses rank 0, which waits for all of them; rank 0 exposes twice, so a fast origin may be ahead. */
static void all_to_one(void)
{
    struct window w = open_window(ALLOCATED, 8 * size_of_world);
    long *part = (long *)w.base;
    int zero = 0;
    MPI_Group world, others, first;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &zero, &others);
    MPI_Group_incl(world, 1, &zero, &first);
    for (long round = 1; round <= ROUNDS; round++) {
        if (rank_of_world == 0) {
            MPI_Win_post(others, MPI_MODE_NOSTORE, w.win);
            MPI_Win_wait(w.win);
            for (int rank = 1; rank < size_of_world; rank++)
                CHECK_EQUAL(part[rank], rank * round, "§12.5.2");
        } else {
            long value = rank_of_world * round;
            MPI_Win_start(first, 0, w.win);
            MPI_Put(&value, 1, MPI_LONG, 0, 8 * rank_of_world, 1, MPI_LONG, w.win);
            MPI_Win_complete(w.win);
        }
    }
    MPI_Group_free(&world);
    if (others != MPI_GROUP_EMPTY)
        MPI_Group_free(&others);
    MPI_Group_free(&first);
    close_window(&w);
}

/* The test is false until all origins have completed, which they do only after they are told. */
static void test_is_honest(void)
{
    if (size_of_world < 2)
        return;
    struct window w = open_window(ALLOCATED, 8);
    MPI_Group world, other;
    int peer = rank_of_world ^ 1, over = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (rank_of_world < 2)
        MPI_Group_incl(world, 1, &peer, &other);
    if (rank_of_world == 0) {
        MPI_Win_post(other, 0, w.win);
        for (int i = 0; i < 100; i++) {
            MPI_Win_test(w.win, &over);
            CHECK(!over, "§12.5.2: the origin has not completed");
        }
        MPI_Send(&over, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Win_wait(w.win);
    } else if (rank_of_world == 1) {
        MPI_Win_start(other, 0, w.win);
        MPI_Recv(&over, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_complete(w.win);
    }
    if (rank_of_world < 2)
        MPI_Group_free(&other);
    MPI_Group_free(&world);
    close_window(&w);
}

/* With MPI_MODE_NOCHECK the program itself sees to it that post comes before start (§12.5.5). */
static void unchecked(void)
{
    struct window w = open_window(is_on_one_host() ? SHARED : ALLOCATED, 8);
    int to = right_neighbour(), from = left_neighbour(), value = rank_of_world;
    MPI_Group world, origins, targets;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &from, &origins);
    MPI_Group_incl(world, 1, &to, &targets);
    MPI_Win_post(origins, MPI_MODE_NOCHECK, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(targets, MPI_MODE_NOCHECK, w.win);
    MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, w.win);
    MPI_Win_complete(w.win);
    MPI_Win_wait(w.win);
    CHECK_EQUAL(*(int *)w.base, from, "§12.5.5");
    MPI_Group_free(&world);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
    close_window(&w);
}

/* A read-modify-write under the exclusive lock loses no update (§12.5.3). The target makes no call meanwhile. */
static void exclusive(int flavor)
{
    struct window w = open_window(flavor, 8);
    for (int round = 0; round < 200; round++) {
        long value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        MPI_Get(&value, 1, MPI_LONG, 0, at(&w, 0, 0), 1, MPI_LONG, w.win);
        MPI_Win_flush(0, w.win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, at(&w, 0, 0), 1, MPI_LONG, w.win);
        MPI_Win_unlock(0, w.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
        CHECK_EQUAL(*(long *)w.base, 200 * size_of_world, "§12.5.3");
        MPI_Win_unlock(0, w.win);
    }
    close_window(&w);
}

/* Shared locks are held by all at once: each waits, holding its own, until all hold theirs. */
static void shared_together(void)
{
    struct window w = open_window(ALLOCATED, 8);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock(0, w.win);
    MPI_Win_lock_all(0, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_flush_local_all(w.win);
    MPI_Win_unlock_all(w.win);
    close_window(&w);
}

/* Shared and exclusive locks by turns, of all targets: who writes is alone, and nobody starves. */
static void mixed(void)
{
    struct window w = open_window(ALLOCATED, 16);
    for (int round = 0; round < 300; round++) {
        int target = (rank_of_world + round) % size_of_world;
        long both[2];
        if (round % 3 == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
            MPI_Get(both, 2, MPI_LONG, target, 0, 2, MPI_LONG, w.win);
            MPI_Win_flush_local(target, w.win);
            CHECK_EQUAL(both[0], both[1], "§12.5.3");
            for (int i = 0; i < 2; i++) {
                both[i]++;
                MPI_Put(both + i, 1, MPI_LONG, target, 8 * i, 1, MPI_LONG, w.win);
            }
        } else {
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win);
            MPI_Get(both, 2, MPI_LONG, target, 0, 2, MPI_LONG, w.win);
            MPI_Win_flush(target, w.win);
            CHECK_EQUAL(both[0], both[1], "§12.5.3: no writer meanwhile");
        }
        MPI_Win_unlock(target, w.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long mine = ((long *)w.base)[0], sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, 100 * size_of_world, "§12.5.3");
    close_window(&w);
}

/* Several targets locked at once, and progress without a call of the target: rank 0 computes until the others are done,
 * which they tell it by its memory alone. */
static void without_target(void)
{
    struct window w = open_window(ALLOCATED, 8);
    int one = 1;
    if (rank_of_world) {
        for (int target = 0; target < size_of_world; target++)
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w.win);
        for (int target = size_of_world; target-- > 0;)
            MPI_Win_unlock(target, w.win);
    } else {
        while (*(volatile int *)w.base != size_of_world - 1)
            ;
    }
    close_window(&w);
}

/* The epochs follow each other on one window in any order. */
static void one_after_the_other(void)
{
    struct window w = open_window(ALLOCATED, 8);
    int to = right_neighbour(), value;
    for (int round = 0; round < 10; round++) {
        value = round;
        MPI_Win_fence(0, w.win);
        MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, w.win);
        MPI_Win_fence(0, w.win);
        CHECK_EQUAL(*(int *)w.base, round, "§12.5.1");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w.win);
        value = -round;
        MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, w.win);
        MPI_Win_unlock(to, w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQUAL(*(int *)w.base, -round, "§12.5.3");
    }
    close_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "epochs");
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (!has_flavor(flavor))
            continue;
        fences(flavor);
        ring(flavor, flavor % 2);
        exclusive(flavor);
    }
    all_to_one();
    test_is_honest();
    unchecked();
    shared_together();
    mixed();
    without_target();
    one_after_the_other();
    return check_finish();
}
