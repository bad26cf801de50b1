/* Messages do not overtake each other: MPI-5.0 §3.5, whatever their sizes, modes and the receives' wildcards. */
#include "check.h"

enum { MESSAGES = 200 };

/* Sizes that jump between the protocols of a library. */
static int length_of(int i)
{
    static const int lengths[] = { 1, 100000, 3, 17, 2000, 300000, 2, 30000, 5, 70000 };
    return lengths[i % 10];
}

static int *buffers[MESSAGES];

static void start_sends(MPI_Comm comm, int dest, int tag, MPI_Request *requests)
{
    for (int i = 0; i < MESSAGES; i++) {
        buffers[i] = need((size_t)length_of(i) * sizeof(int));
        for (int k = 0; k < length_of(i); k++)
            buffers[i][k] = i * 1000003 + k;
        if (i % 3 == 1)
            MPI_Issend(buffers[i], length_of(i), MPI_INT, dest, tag, comm, &requests[i]);
        else
            MPI_Isend(buffers[i], length_of(i), MPI_INT, dest, tag, comm, &requests[i]);
    }
}

static void finish_sends(MPI_Request *requests)
{
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        free(buffers[i]);
}

static void check_message(const int *got, int count, int i)
{
    CHECK_EQUAL(count, length_of(i), "MPI-5.0 §3.5: order");
    for (int k = 0; k < count; k++)
        CHECK(got[k] == i * 1000003 + k, "MPI-5.0 §3.5: order",
              "int %d of %d of message %d is int %d of message %d", k, count, i, got[k] % 1000003,
              got[k] / 1000003);
}

/* One receive after the other, by the wildcards given. */
static void blocking_receives(int source, int tag)
{
    static MPI_Request sends[MESSAGES];
    int *got = need(300000 * sizeof(int));
    MPI_Status status;
    start_sends(MPI_COMM_WORLD, right_neighbour(), 5, sends);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(got, 300000, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status.MPI_SOURCE, left_neighbour(), "MPI-5.0 §3.2.5");
        check_message(got, status_count(&status, MPI_INT), i);
    }
    finish_sends(sends);
    free(got);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All receives posted at once, alternating between the four kinds of specification: they match in the
 * order they were posted, because each of them could match each message. */
static void mixed_receives(int posted_first)
{
    static MPI_Request sends[MESSAGES], receives[MESSAGES];
    static int *got[MESSAGES];
    static MPI_Status statuses[MESSAGES];
    if (!posted_first)
        start_sends(MPI_COMM_WORLD, right_neighbour(), 6, sends);
    for (int i = 0; i < MESSAGES; i++) {
        got[i] = need((size_t)length_of(i) * sizeof(int));
        MPI_Irecv(got[i], length_of(i), MPI_INT, i & 1 ? MPI_ANY_SOURCE : left_neighbour(),
                  i & 2 ? MPI_ANY_TAG : 6, MPI_COMM_WORLD, &receives[i]);
    }
    if (posted_first) {
        MPI_Barrier(MPI_COMM_WORLD);
        start_sends(MPI_COMM_WORLD, right_neighbour(), 6, sends);
    }
    MPI_Waitall(MESSAGES, receives, statuses);
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_EQUAL(statuses[i].MPI_TAG, 6, "MPI-5.0 §3.2.5");
        check_message(got[i], status_count(&statuses[i], MPI_INT), i);
        free(got[i]);
    }
    finish_sends(sends);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two tags from one sender, received in the opposite order: order holds only among what could match. */
static void tags_in_any_order(void)
{
    enum { TAGS = 64 };
    int values[TAGS], got[TAGS];
    MPI_Request sends[TAGS];
    for (int tag = 0; tag < TAGS; tag++) {
        values[tag] = 31 * tag + rank_of_world;
        MPI_Isend(&values[tag], 1, MPI_INT, right_neighbour(), tag, MPI_COMM_WORLD, &sends[tag]);
    }
    for (int tag = TAGS - 1; tag >= 0; tag--)
        MPI_Recv(&got[tag], 1, MPI_INT, left_neighbour(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int tag = 0; tag < TAGS; tag++)
        CHECK_EQUAL(got[tag], 31 * tag + left_neighbour(), "MPI-5.0 §3.2.4");
    MPI_Waitall(TAGS, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "ordering");
    blocking_receives(left_neighbour(), 5);
    blocking_receives(MPI_ANY_SOURCE, 5);
    blocking_receives(left_neighbour(), MPI_ANY_TAG);
    blocking_receives(MPI_ANY_SOURCE, MPI_ANY_TAG);
    mixed_receives(1);
    mixed_receives(0);
    tags_in_any_order();
    return check_finish();
}
