/* adapter_window MODE [ACCESS]: two ranks whose windows an adapter accesses. Each that succeeds prints "ok adapter_window RANK WRITES READS", the writes
 * and reads of its adapters (MPI-5.0 §15.3.7).
 *   moves          puts and gets of all lengths, on memory of the program's and of the library's, in all kinds of epochs, beside a copy
 *   stopped        rank 1's process is stopped (SIGSTOP) while rank 0 puts, gets and flushes
 *   killed ACCESS  rank 1 is killed between two accesses (put, get) of rank 0's, which gets the error that it was aborted, soon */
#include "counters.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 20, ROUNDS = 120, TARGET = 1 };
/* Seconds in which a death is told, where WEFT_NETWORK_TIMEOUT is 1, and how long accesses of a stopped process may take. */
static const double LIMIT = 10;

static int rank;
static unsigned char *part, expected[BYTES], out[BYTES], in[BYTES];
static MPI_Win win;
static MPI_T_pvar_handle writes, reads;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void require(int condition, const char *what)
{
    if (condition)
        return;
    printf("rank %d: adapter_window: %s\n", rank, what);
    fflush(stdout);
    raise(SIGKILL);
}

static int below(int bound)
{
    static unsigned long long state = 17;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)bound);
}

/* One put and one get of what it and earlier ones have put. */
static void move(int round)
{
    static const int lengths[] = {1, 8, 100, 129, 600, 5000, 16384, 16385, 100000, 700000};
    int bytes = lengths[round % 10], at = below(BYTES - bytes);
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(round + i);
    memcpy(expected + at, out, (size_t)bytes);
    MPI_Put(out, bytes, MPI_BYTE, TARGET, at, bytes, MPI_BYTE, win);
    MPI_Win_flush(TARGET, win);
    int from = below(BYTES - bytes);
    MPI_Get(in, bytes, MPI_BYTE, TARGET, from, bytes, MPI_BYTE, win);
    MPI_Win_flush(TARGET, win);
    require(memcmp(in, expected + from, (size_t)bytes) == 0, "other bytes than were put");
}

static void make(int of_library)
{
    if (of_library) {
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    } else {
        part = malloc(BYTES);
        MPI_Win_create(part, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    memset(part, 0, BYTES);
    memset(expected, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void give_up(int of_library)
{
    MPI_Win_free(&win);
    if (!of_library)
        free(part);
}

/* Rank 0 has written; rank 1 looks at its own memory. */
static void compare(void)
{
    MPI_Bcast(expected, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    require(rank != TARGET || memcmp(part, expected, BYTES) == 0, "the target's memory is another");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A put in an epoch of another kind, and a number added to it in the next. */
static void epochs(void)
{
    MPI_Group world, other;
    int peer = !rank, one = 1, value = 0, sum = 41;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    for (int i = 0; i < 50; i++) {
        MPI_Win_fence(0, win);
        if (!rank)
            MPI_Put(&sum, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        if (!rank)
            MPI_Accumulate(&one, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_fence(0, win);
        if (rank == TARGET) {
            memcpy(&value, part, sizeof value);
            require(value == 42, "a put and an update of two epochs");
            MPI_Win_post(other, 0, win);
            MPI_Win_wait(win);
            memcpy(&value, part, sizeof value);
            require(value == i, "a put between start and complete");
        } else {
            MPI_Win_start(other, 0, win);
            MPI_Put(&i, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
        /* Both add by a get and a put under the lock. */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        MPI_Request request;
        MPI_Rget(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        value++;
        MPI_Rput(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(TARGET, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_unlock(TARGET, win);
        require(value == i + 2, "an update under the lock is lost");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

static void moves(void)
{
    for (int of_library = 0; of_library < 2; of_library++) {
        make(of_library);
        MPI_Win_lock_all(0, win);
        for (int round = 0; round < ROUNDS && !rank; round++)
            move(round);
        MPI_Win_unlock_all(win);
        compare();
        epochs();
        give_up(of_library);
    }
}

static void stopped(void)
{
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, TARGET, MPI_COMM_WORLD);
    make(0);
    MPI_Win_lock_all(0, win);
    if (!rank) {
        /* The first access has the lock to take, and a link to make. */
        move(0);
        unsigned long long before = counted(writes);
        require(kill(pid, SIGSTOP) == 0, "the target cannot be stopped");
        double begin = seconds();
        for (int round = 1; round < ROUNDS; round++)
            move(round);
        int is_soon = seconds() - begin < LIMIT;
        unsigned long long written = counted(writes) - before;
        kill(pid, SIGCONT);
        require(is_soon, "accesses wait for a process that is stopped");
        require(written >= ROUNDS - 1, "puts that the adapter did not write");
    }
    MPI_Win_unlock_all(win);
    compare();
    give_up(0);
}

static void killed(int puts)
{
    int code = MPI_SUCCESS, class = MPI_SUCCESS;
    signal(SIGTERM, SIG_IGN);
    make(0);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    if (!rank)
        move(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == TARGET)
        raise(SIGKILL);
    double begin = seconds();
    while (code == MPI_SUCCESS && seconds() - begin < LIMIT) {
        code = puts ? MPI_Put(out, BYTES, MPI_BYTE, TARGET, 0, BYTES, MPI_BYTE, win)
                    : MPI_Get(in, BYTES, MPI_BYTE, TARGET, 0, BYTES, MPI_BYTE, win);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(TARGET, win);
    }
    MPI_Error_class(code, &class);
    require(class == MPI_ERR_PROC_ABORTED, "not the error");
    require(seconds() - begin < LIMIT, "the error comes late");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    writes = count("weft_rdma_writes", MPI_T_PVAR_CLASS_COUNTER);
    reads = count("weft_rdma_reads", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int is_killed = strcmp(argv[1], "killed") == 0;
    if (is_killed)
        killed(strcmp(argv[2], "put") == 0);
    else if (strcmp(argv[1], "stopped") == 0)
        stopped();
    else
        moves();
    printf("ok adapter_window %d %llu %llu\n", rank, counted(writes), counted(reads));
    fflush(stdout);
    if (is_killed)
        raise(SIGKILL);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
