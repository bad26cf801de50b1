/* What many origins do to one place at once: atomic updates, their order, locks that exclude, readers that see all or nothing, and
 * threads (MPI-5.0 §12.5.3, §12.7.1, §12.7.2, §11.6). */
#include "windows.h"
#include <pthread.h>

enum { STEPS = 150, THREADS = 4, MANY = 24 };

/* Updates of three kinds count one number up; those that fetch come before each other everywhere. */
static void counted_by_all(int flavor)
{
    struct window w = open_window(flavor, 64);
    int last = size_of_world - 1;
    int64_t one = 1, least = 0, found = 0;
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < STEPS; i++) {
        switch (i % 4) {
        case 0:
            MPI_Accumulate(&one, 1, MPI_INT64_T, last, at(&w, last, 8), 1, MPI_INT64_T, MPI_SUM, w.win);
            break;
        case 1:
            MPI_Fetch_and_op(&one, &found, MPI_INT64_T, last, at(&w, last, 8), MPI_SUM, w.win);
            break;
        case 2:
            MPI_Get_accumulate(&one, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, last, at(&w, last, 8), 1, MPI_INT64_T, MPI_SUM, w.win);
            break;
        default:
            MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &found, 1, MPI_INT64_T, last, at(&w, last, 8), 1, MPI_INT64_T, MPI_NO_OP, w.win);
        }
        MPI_Win_flush(last, w.win);
        /* This origin's own updates are in it. */
        CHECK(i % 4 == 0 || found >= least, "§12.7.1", "%s, step %d: %lld, not %lld at least", flavor_names[flavor], i, (long long)found, (long long)least);
        least = (i % 4 == 0 ? least : found) + (i % 4 != 3);
    }
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    int updates = 0;
    for (int i = 0; i < STEPS; i++)
        updates += i % 4 != 3;
    if (rank_of_world == last)
        CHECK_EQUAL(*(int64_t *)(w.base + 8), (int64_t)updates * size_of_world, "§12.7.1: none is lost");
    close_window(&w);
}

/* Updates of one origin come one after the other, whatever their lengths and without a flush between (§12.7.2). */
static void in_order(int flavor)
{
    enum { LONG = 20000 };
    struct window w = open_window(flavor, LONG * sizeof(int));
    int to = right_neighbour(), from = left_neighbour(), *values = need(LONG * sizeof *values), *seen = need(LONG * sizeof *seen), first;
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, w.win);
    for (int round = 1; round <= 12; round++) {
        int count = round % 3 == 0 ? LONG : round % 3 == 1 ? 1 : 700;
        for (int i = 0; i < count; i++)
            values[i] = round * 1000 + rank_of_world;
        MPI_Accumulate(values, count, MPI_INT, to, at(&w, to, 0), count, MPI_INT, MPI_REPLACE, w.win);
        /* The memory that was given is the program's again only then. */
        MPI_Win_flush_local(to, w.win);
        MPI_Get_accumulate(NULL, 0, MPI_INT, seen, count, MPI_INT, to, at(&w, to, 0), count, MPI_INT, MPI_NO_OP, w.win);
        MPI_Fetch_and_op(NULL, &first, MPI_INT, to, at(&w, to, 0), MPI_NO_OP, w.win);
        MPI_Win_flush_local(to, w.win);
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(seen[i], round * 1000 + rank_of_world, "§12.7.2: read after write");
        CHECK_EQUAL(first, round * 1000 + rank_of_world, "§12.7.2: read after write");
    }
    MPI_Win_unlock(to, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(*(int *)w.base, 12 * 1000 + from, "§12.7.2: write after write");
    close_window(&w);
    free(values), free(seen);
}

/* A number that is read, counted up and written under an exclusive lock. Readers under a shared lock see both halves alike. */
static void excluded(int flavor)
{
    enum { HALF = 3000 };
    struct window w = open_window(flavor, 2 * HALF * sizeof(int));
    int *both = need(2 * HALF * sizeof *both), writes = 0, all;
    for (int i = 0; i < STEPS / 3; i++) {
        int target = i % size_of_world, writer = (i + rank_of_world) % 3 != 0;
        MPI_Win_lock(writer ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w.win);
        MPI_Get(both, 2 * HALF, MPI_INT, target, at(&w, target, 0), 2 * HALF, MPI_INT, w.win);
        MPI_Win_flush(target, w.win);
        for (int k = 0; k < 2 * HALF; k++)
            CHECK_EQUAL(both[k], both[0], "§12.5.3: all of an epoch that excludes others, or nothing");
        if (writer) {
            for (int k = 0; k < 2 * HALF; k++)
                both[k]++;
            MPI_Put(both, HALF, MPI_INT, target, at(&w, target, 0), HALF, MPI_INT, w.win);
            MPI_Put(both + HALF, HALF, MPI_INT, target, at(&w, target, HALF * sizeof(int)), HALF, MPI_INT, w.win);
            writes++;
        }
        MPI_Win_unlock(target, w.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank_of_world, 0, w.win);
    int mine = *(int *)w.base;
    MPI_Win_unlock(rank_of_world, w.win);
    MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all, writes, "§12.5.3: no write is lost");
    close_window(&w);
    free(both);
}

/* Epochs on many windows at once, and their ends in another order. */
static void many_windows(void)
{
    struct window windows[MANY];
    for (int i = 0; i < MANY; i++)
        windows[i] = open_window(i % 2 ? CREATED : i % 4 ? ALLOCATED : DYNAMIC, 256);
    int to = right_neighbour(), from = left_neighbour(), values[MANY];
    for (int i = 0; i < MANY; i++) {
        values[i] = rank_of_world * 100 + i;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, windows[i].win);
        MPI_Put(values + i, 1, MPI_INT, to, at(windows + i, to, 4 * i), 1, MPI_INT, windows[i].win);
    }
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Win_unlock(to, windows[i].win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, rank_of_world, 0, windows[i].win);
        CHECK_EQUAL(((int *)windows[i].base)[i], from * 100 + i, "§12.5.3");
        MPI_Win_unlock(rank_of_world, windows[i].win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        close_window(windows + i * 7 % MANY);
}

struct work {
    pthread_t thread;
    int number;
    struct window *own, *common;
};

/* A window of the thread's own, in epochs of its own; and one that all threads of all ranks have one epoch on. */
static void *work(void *given)
{
    struct work *work = given;
    struct window *own = work->own, *common = work->common;
    int to = (rank_of_world + 1 + work->number) % size_of_world;
    int64_t one = 1, found, values[16], back[16];
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 16; k++)
            values[k] = i * 1000 + work->number * 100 + rank_of_world;
        MPI_Aint mine = 128 * rank_of_world;
        MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, own->win);
        MPI_Put(values, 16, MPI_INT64_T, to, at(own, to, mine), 16, MPI_INT64_T, own->win);
        MPI_Win_flush(to, own->win);
        MPI_Get(back, 16, MPI_INT64_T, to, at(own, to, mine), 16, MPI_INT64_T, own->win);
        MPI_Win_unlock(to, own->win);
        CHECK(memcmp(values, back, sizeof values) == 0, "§12.7", "thread %d, step %d", work->number, i);
        MPI_Fetch_and_op(&one, &found, MPI_INT64_T, i % size_of_world, at(common, i % size_of_world, 0), MPI_SUM, common->win);
        MPI_Win_flush(i % size_of_world, common->win);
        CHECK(found >= 0 && found < (int64_t)STEPS * THREADS * size_of_world, "§12.7.1");
    }
    return NULL;
}

static void threads(void)
{
    struct window common = open_window(ALLOCATED, 8), own[THREADS];
    struct work all[THREADS];
    int64_t total;
    for (int i = 0; i < THREADS; i++)
        own[i] = open_window(i % 2 ? CREATED : ALLOCATED, 128 * size_of_world);
    MPI_Win_lock_all(0, common.win);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct work){.number = i, .own = own + i, .common = &common};
        pthread_create(&all[i].thread, NULL, work, all + i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i].thread, NULL);
    MPI_Win_unlock_all(common.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(common.base, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(total, (int64_t)STEPS * THREADS * size_of_world, "§12.7.1: none is lost");
    for (int i = 0; i < THREADS; i++)
        close_window(own + i);
    close_window(&common);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "contention");
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (!has_flavor(flavor))
            continue;
        counted_by_all(flavor);
        in_order(flavor);
        excluded(flavor);
    }
    many_windows();
    threads();
    return check_finish();
}
