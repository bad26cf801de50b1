/* ranks: 2,4
 * Progress of one communicator's messages while a process waits, tests or probes on another, on which there is always something for it: MPI-5.0 §2.9,
 * §3.7.4. A long message goes to and fro beside the traffic, and the traffic ends when it has come. */
#include "check.h"
#include <time.h>

enum { LONG = 1 << 20, WINDOW = 4, WORDS = 8192, TAG = 3, ACKNOWLEDGED = 4 };
/* Messages of which the second process is ahead, at least and at most twice: the first always finds one, and neither runs alone for long. */
enum { AHEAD = 1024 };
/* Rounds of traffic after which the long messages count as such that never move; where they do, some hundreds suffice. */
enum { MOST_ROUNDS = 6000 };

static MPI_Comm traffic, beside;
static int other;

/* So long a round takes at least where the loop receives, so that the next message is there before it is asked for. */
static void compute(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000LL + now.tv_nsec - begin.tv_nsec < 15000);
}

/* Ways to receive a word of the other's, or WINDOW of them; the last is told. */

static int by_receiving(void)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, other, TAG, traffic, MPI_STATUS_IGNORE);
    return word;
}

static int by_waiting(void)
{
    int words[WINDOW];
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(&words[i], 1, MPI_INT, other, TAG, traffic, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    return words[WINDOW - 1];
}

static int by_testing(void)
{
    int word, flag = 0;
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, other, TAG, traffic, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return word;
}

static int by_probing(void)
{
    int word;
    MPI_Probe(other, TAG, traffic, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, other, TAG, traffic, MPI_STATUS_IGNORE);
    return word;
}

static int by_probing_again(void)
{
    int word, flag = 0;
    MPI_Message message;
    while (!flag)
        MPI_Improbe(other, TAG, traffic, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    return word;
}

static int by_a_persistent_one(void)
{
    static int word;
    static MPI_Request request = MPI_REQUEST_NULL;
    if (request == MPI_REQUEST_NULL)
        MPI_Recv_init(&word, 1, MPI_INT, other, TAG, traffic, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (word)
        MPI_Request_free(&request);
    return word;
}

/* The second of a pair sends words until both long messages have come to it and gone from it. The first receives them in some way. */
static void words_beside(const char *way, int (*receive)(void), int window)
{
    static char out[LONG], in[LONG];
    MPI_Request requests[2];
    memset(in, 0, LONG);
    memset(out, 1 + rank_of_world, LONG);
    MPI_Irecv(in, LONG, MPI_CHAR, other, TAG, beside, &requests[0]);
    MPI_Isend(out, LONG, MPI_CHAR, other, TAG, beside, &requests[1]);
    if (rank_of_world % 2 == 0) {
        for (int rounds = 1; !receive(); rounds++) {
            CHECK(rounds < MOST_ROUNDS, "MPI-5.0 §3.7.4", "%s", way);
            compute();
            int received = rounds * window;
            if (received % AHEAD == 0)
                MPI_Send(&received, 1, MPI_INT, other, ACKNOWLEDGED, traffic);
        }
    } else {
        int over = 0, zero = 0, sent = 0, acknowledged = 0;
        while (!over) {
            if (sent > AHEAD && sent % AHEAD == 0)
                MPI_Recv(&acknowledged, 1, MPI_INT, other, ACKNOWLEDGED, traffic, MPI_STATUS_IGNORE);
            sent += window;
            for (int i = 0; i < window; i++)
                MPI_Send(&zero, 1, MPI_INT, other, TAG, traffic);
            MPI_Testall(2, requests, &over, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < window; i++)
            MPI_Send(&over, 1, MPI_INT, other, TAG, traffic);
        while (acknowledged < sent / AHEAD * AHEAD)
            MPI_Recv(&acknowledged, 1, MPI_INT, other, ACKNOWLEDGED, traffic, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in[0], 1 + other, "MPI-5.0 §3.5");
    CHECK_EQUAL(in[LONG - 1], 1 + other, "MPI-5.0 §3.5");
}

/* Collective operations of the pair: that both have come is one of their results, and the first is always the last to come. */
static void collectives_beside(int words)
{
    static char out[LONG], in[LONG];
    static int mine[WORDS], all[WORDS];
    MPI_Request requests[2];
    MPI_Irecv(in, LONG, MPI_CHAR, other, TAG, beside, &requests[0]);
    MPI_Isend(out, LONG, MPI_CHAR, other, TAG, beside, &requests[1]);
    int tests = rank_of_world % 2;
    mine[0] = !tests;
    for (int rounds = 0; rounds == 0 || !all[0]; rounds++) {
        if (tests)
            MPI_Testall(2, requests, &mine[0], MPI_STATUSES_IGNORE);
        else
            compute();
        MPI_Allreduce(mine, all, words, MPI_INT, MPI_MIN, traffic);
        MPI_Bcast(mine + 1, 1, MPI_INT, 0, traffic);
        MPI_Barrier(traffic);
        CHECK(rounds < MOST_ROUNDS, "MPI-5.0 §3.7.4", "collective operations of %d words", words);
    }
    all[0] = 0;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "beside_traffic");
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world / 2, rank_of_world, &traffic);
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    other = rank_of_world ^ 1;
    MPI_Comm pair = traffic;
    traffic = MPI_COMM_WORLD;
    words_beside("MPI_Recv", by_receiving, 1);
    words_beside("MPI_Waitall", by_waiting, WINDOW);
    words_beside("MPI_Test", by_testing, 1);
    words_beside("MPI_Probe", by_probing, 1);
    words_beside("MPI_Improbe", by_probing_again, 1);
    words_beside("MPI_Start", by_a_persistent_one, 1);
    traffic = pair;
    collectives_beside(1);
    collectives_beside(WORDS);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&beside);
    return check_finish();
}
