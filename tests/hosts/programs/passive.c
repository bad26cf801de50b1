/* passive: the last rank computes and calls nothing of MPI until the others have accessed its memory, and locked it, in each way for a while.
 * An access must not wait until the computing is over (MPI-5.0 §12.7.3 lets it; this library does not), for it is not over before. */
#include "check.h"
#include <time.h>

enum { MOST = 100000, LONG_BYTES = 1 << 20, ACCESS_MS = 500, LIMIT_MS = 60000 };
enum { PUT, GET, FETCH, SWAP, ACCUMULATE, LOCK, LONG_PUT, LONG_GET, KINDS };
static const char *const NAMES[] = {"put", "get", "fetch_and_op", "compare_and_swap", "accumulate", "lock", "put of 1 MiB", "get of 1 MiB"};

static MPI_Win window;
static long *base, *many, *done, taken, before;
static double took_ms[MOST];

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int all_done(int kind)
{
    for (int i = 0; i < size - 1; i++)
        if (__atomic_load_n(&done[i], __ATOMIC_ACQUIRE) <= kind)
            return 0;
    return 1;
}

static void compute(int kind)
{
    static volatile double sum;
    for (double end = now_ms() + LIMIT_MS; !all_done(kind);) {
        REQUIRE(now_ms() < end);
        for (int i = 0; i < 1000; i++)
            sum += i;
    }
}

/* Tells the last rank that this one has ended its accesses of a kind. */
static void tell_done(int kind, int target)
{
    long value = kind + 1;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Put(&value, 1, MPI_LONG, target, done - base + rank, 1, MPI_LONG, window);
    MPI_Win_unlock(target, window);
}

/* One access from the call to its completion at the target; each rank has a place of its own there, behind the common counter. */
static void access_once(int kind, int target)
{
    long value = rank, one = 1, found = -1;
    MPI_Aint place = 1 + rank;
    switch (kind) {
    case PUT:
        MPI_Put(&value, 1, MPI_LONG, target, place, 1, MPI_LONG, window);
        break;
    case GET:
        MPI_Get(&found, 1, MPI_LONG, target, place, 1, MPI_LONG, window);
        break;
    case FETCH:
        MPI_Fetch_and_op(&one, &found, MPI_LONG, target, 0, MPI_SUM, window);
        break;
    case SWAP:
        MPI_Compare_and_swap(&value, &value, &found, MPI_LONG, target, place, window);
        break;
    case ACCUMULATE:
        MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, window);
        break;
    case LONG_PUT:
        MPI_Put(many, LONG_BYTES, MPI_BYTE, target, 1024 + rank * (LONG_BYTES / 8), LONG_BYTES, MPI_BYTE, window);
        break;
    case LONG_GET:
        MPI_Get(many, LONG_BYTES, MPI_BYTE, target, 1024 + rank * (LONG_BYTES / 8), LONG_BYTES, MPI_BYTE, window);
        break;
    default:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Put(&value, 1, MPI_LONG, target, place, 1, MPI_LONG, window);
        MPI_Win_unlock(target, window);
        return;
    }
    MPI_Win_flush(target, window);
    if (kind == GET || kind == SWAP)
        REQUIRE(found == rank);
    if (kind == FETCH) {
        REQUIRE(found >= before);
        before = found;
    }
    taken += kind == FETCH || kind == ACCUMULATE;
}

static int compare(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static void access_for_a_while(int kind, int target)
{
    int count = 0;
    for (double end = now_ms() + ACCESS_MS, begin; (begin = now_ms()) < end && count < MOST;) {
        access_once(kind, target);
        took_ms[count++] = now_ms() - begin;
    }
    qsort(took_ms, (size_t)count, sizeof *took_ms, compare);
    printf("passive %s from %d: %d times, median %.3f ms, worst %.3f ms\n", NAMES[kind], rank, count, took_ms[count / 2], took_ms[count - 1]);
    fflush(stdout);
}

int main(int count, char **words)
{
    begin(&count, &words);
    int last = size - 1;
    long all;
    MPI_Win_allocate(1024 * sizeof(long) + (MPI_Aint)size * LONG_BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    many = memory(LONG_BYTES);
    memset(many, 0, LONG_BYTES);
    for (int i = 0; i < size; i++)
        base[1 + i] = i;
    base[0] = 0;
    done = base + 1 + size;
    for (int i = 0; i < size; i++)
        done[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == last) {
            compute(kind);
            continue;
        }
        if (kind != LOCK)
            MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
        access_for_a_while(kind, last);
        if (kind != LOCK)
            MPI_Win_unlock(last, window);
        tell_done(kind, last);
    }
    MPI_Reduce(&taken, &all, 1, MPI_LONG, MPI_SUM, last, MPI_COMM_WORLD);
    if (rank == last)
        REQUIRE(base[0] == all);
    MPI_Win_free(&window);
    free(many);
    end("passive");
    return 0;
}
