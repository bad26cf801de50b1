/* Matching: in the order of the init calls, once for all starts, and never with ordinary messages or probes.
 * MPI-5.0 §4.2.1. */
#include "check.h"

enum { SAME = 3, ROUNDS = 5 };

/* Several with one envelope; the receives are started in another order than they were made. */
static void in_order_of_init(void)
{
    MPI_Request sends[SAME], receives[SAME];
    int out[SAME], in[SAME];
    for (int i = 0; i < SAME; i++)
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, right_neighbour(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    for (int i = 0; i < SAME; i++)
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, left_neighbour(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SAME; i++) {
            out[i] = round * 100 + i * 10 + rank_of_world;
            in[i] = -1;
        }
        for (int i = SAME - 1; i >= 0; i--) {
            MPI_Start(&receives[(i + round) % SAME]);
            MPI_Start(&sends[i]);
            MPI_Pready(0, sends[i]);
        }
        MPI_Waitall(SAME, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(SAME, receives, MPI_STATUSES_IGNORE);
        for (int i = 0; i < SAME; i++)
            CHECK_EQUAL(in[i], round * 100 + i * 10 + left_neighbour(), "MPI-5.0 §4.2.1: order of the init calls");
    }
    /* Freed and made again: the new ones match each other. */
    MPI_Request_free(&sends[0]);
    MPI_Request_free(&receives[0]);
    MPI_Psend_init(&out[0], 1, 1, MPI_INT, right_neighbour(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[0]);
    MPI_Precv_init(&in[0], 1, 1, MPI_INT, left_neighbour(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[0]);
    out[0] = 5;
    out[1] = 6;
    MPI_Startall(2, sends);
    MPI_Startall(2, receives);
    MPI_Pready(0, sends[1]);
    MPI_Pready(0, sends[0]);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 5 && in[1] == 6, "MPI-5.0 §4.2.1");
    for (int i = 0; i < SAME; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
}

/* The same envelope as ordinary messages, wildcard receives and probes. */
static void apart_from_others(void)
{
    MPI_Request send, receive, ordinary;
    MPI_Status status;
    int out = 11, in = -1, plain = -1, message = 22, flag = 1;
    MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ordinary);
    MPI_Psend_init(&out, 1, 1, MPI_INT, right_neighbour(), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Start(&send);
    MPI_Pready(0, send);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int look = 0; look < 100; look++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "MPI-5.0 §4.2.1: a probe does not see partitions");
        MPI_Test(&ordinary, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "MPI-5.0 §4.2.1: an ordinary receive does not take partitions");
    }
    MPI_Precv_init(&in, 1, 1, MPI_INT, left_neighbour(), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&message, 1, MPI_INT, right_neighbour(), 9, MPI_COMM_WORLD);
    MPI_Wait(&ordinary, &status);
    CHECK_EQUAL(plain, 22, "MPI-5.0 §4.2.1");
    CHECK_EQUAL(status.MPI_TAG, 9, "MPI-5.0 §3.2.5");
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 11, "MPI-5.0 §4.2.1");
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

/* Tags, sources and communicators tell operations apart. */
static void by_envelope(void)
{
    MPI_Comm other;
    MPI_Request send[3], receive[3];
    int out[3] = { 1, 2, 3 }, in[3] = { 0 };
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm comms[3] = { MPI_COMM_WORLD, MPI_COMM_WORLD, other };
    int tags[3] = { 1, 2, 1 };
    for (int i = 0; i < 3; i++)
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, right_neighbour(), tags[i], comms[i], MPI_INFO_NULL, &send[i]);
    for (int i = 2; i >= 0; i--)
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, left_neighbour(), tags[i], comms[i], MPI_INFO_NULL, &receive[i]);
    MPI_Startall(3, send);
    MPI_Startall(3, receive);
    for (int i = 0; i < 3; i++)
        MPI_Pready(0, send[i]);
    MPI_Waitall(3, send, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, receive, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(in[i], i + 1, "MPI-5.0 §4.2.1");
        MPI_Request_free(&send[i]);
        MPI_Request_free(&receive[i]);
    }
    MPI_Comm_free(&other);
}

/* Operations that were made and never started; the barrier before the end shows that nothing waits for them. */
static void never_started(void)
{
    MPI_Request send, receive;
    int value = 0;
    MPI_Psend_init(&value, 1, 1, MPI_INT, right_neighbour(), 4, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(&value, 1, 1, MPI_INT, left_neighbour(), 4, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Request_free(&receive);
    MPI_Request_free(&send);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "matching");
    in_order_of_init();
    apart_from_others();
    by_envelope();
    never_started();
    return check_finish();
}
