/* ranks: 3,4,5. A process that has called MPI_Comm_idup may compute for as long as it likes: communicators that it has no part in are
 * made meanwhile (MPI-5.0 §2.9). Of three processes on one host, as it is told by shared memory when to go on. */
#include <time.h>
#include "check.h"

enum { BUILDER, BETWEEN, AWAY, ROLES, ATTEMPTS = 16, COPIES = 32, LIMIT_SECONDS = 60 };
/* Words of shared memory: how often the process has gone away, and how often it has been told to come back. */
enum { GONE, BACK, WORDS };

static MPI_Comm split(MPI_Comm comm, int is_in)
{
    MPI_Comm part;
    MPI_Comm_split(comm, is_in ? 0 : MPI_UNDEFINED, 0, &part);
    return part;
}

static int has(const int *word, int value) { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; }

/* Computes, as far as MPI can see, until the word has that value. */
static void await(const int *word, int value)
{
    for (time_t end = time(NULL) + LIMIT_SECONDS; !has(word, value);)
        CHECK(time(NULL) < end, "MPI-5.0 §2.9: the others wait for this process");
}

/* Two processes duplicate their communicators in unlike order, so that the two agreements are in each other's way, and one of them goes away
 * after it has tested so often. The one in the middle makes a communicator with a third. */
static void attempt(int role, int tests, MPI_Comm parents[COPIES], MPI_Comm pair, int words[WORDS])
{
    MPI_Comm copies[COPIES], made = MPI_COMM_NULL;
    MPI_Request requests[COPIES];
    struct timespec moment = {.tv_nsec = 1000000};
    int done = 0;
    const int number = tests + 1;
    for (int i = 0; role != BUILDER && i < COPIES; i++) {
        int which = role == AWAY ? COPIES - 1 - i : i;
        MPI_Comm_idup(parents[which], &copies[which], &requests[which]);
    }
    if (role == AWAY) {
        for (int i = 0; i < tests; i++, nanosleep(&moment, NULL))
            MPI_Testall(COPIES, requests, &done, MPI_STATUSES_IGNORE);
        __atomic_store_n(&words[GONE], number, __ATOMIC_RELEASE);
        await(&words[BACK], number);
    } else {
        /* What the other has sent before it went away has been seen by a test that begins after that. */
        for (int gone = 0; role == BETWEEN && !gone;) {
            gone = has(&words[GONE], number);
            MPI_Testall(COPIES, requests, &done, MPI_STATUSES_IGNORE);
        }
        await(&words[GONE], number);
        CHECK_EQUAL(MPI_Comm_dup(pair, &made), MPI_SUCCESS, "MPI-5.0 §7.4.2");
        MPI_Barrier(made);
        MPI_Comm_free(&made);
        if (role == BUILDER)
            __atomic_store_n(&words[BACK], number, __ATOMIC_RELEASE);
    }
    if (role == BUILDER)
        return;
    MPI_Waitall(COPIES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COPIES; i++) {
        MPI_Barrier(copies[i]);
        MPI_Comm_free(&copies[i]);
    }
}

static void on_host(MPI_Comm host, int role)
{
    MPI_Comm parents[COPIES], pair = split(host, role == BUILDER || role == BETWEEN);
    MPI_Win window;
    MPI_Aint bytes;
    int unit, *words;
    for (int i = 0; i < COPIES; i++)
        parents[i] = split(host, role == BETWEEN || role == AWAY);
    MPI_Win_allocate_shared(role == BUILDER ? WORDS * sizeof *words : 0, sizeof *words, MPI_INFO_NULL, host, &words, &window);
    MPI_Win_shared_query(window, BUILDER, &bytes, &unit, &words);
    if (role == BUILDER)
        memset(words, 0, WORDS * sizeof *words);
    for (int tests = 0; tests < ATTEMPTS; tests++) {
        MPI_Barrier(host);
        attempt(role, tests, parents, pair, words);
    }
    MPI_Win_free(&window);
    for (int i = 0; i < COPIES; i++)
        if (parents[i] != MPI_COMM_NULL)
            MPI_Comm_free(&parents[i]);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
}

int main(int argc, char **argv)
{
    MPI_Comm shared, host;
    int size, role;
    check_start(&argc, &argv, "idup_elsewhere");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &size);
    MPI_Comm_rank(shared, &role);
    host = split(shared, size >= ROLES && role < ROLES);
    if (host != MPI_COMM_NULL) {
        on_host(host, role);
        MPI_Comm_free(&host);
    }
    MPI_Comm_free(&shared);
    return check_finish();
}
