/* MPI_Probe and MPI_Iprobe: what they report, and that the next receive takes what was probed. */
#include "check.h"

static const int sizes[] = { 0, 1, 64, 5000, 70000, 2000000 };

static void blocking(int bytes, int source, int tag)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request send;
    MPI_Status probed, received;
    fill_pattern(out, (size_t)bytes, 4);
    MPI_Isend(out, bytes, MPI_BYTE, right_neighbour(), 12, MPI_COMM_WORLD, &send);
    MPI_Probe(source, tag, MPI_COMM_WORLD, &probed);
    CHECK(probed.MPI_SOURCE == left_neighbour() && probed.MPI_TAG == 12, "MPI-5.0 §3.8.1");
    CHECK_EQUAL(status_count(&probed, MPI_BYTE), bytes, "MPI-5.0 §3.8.1");
    MPI_Recv(in, bytes, MPI_BYTE, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, &received);
    CHECK_EQUAL(status_count(&received, MPI_BYTE), bytes, "MPI-5.0 §3.8.1");
    CHECK(has_pattern(in, (size_t)bytes, 4), "MPI-5.0 §3.8.1");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Iprobe succeeds in the end, without any other call that makes progress. */
static void polling(int bytes)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request send;
    MPI_Status status;
    int flag = -1;
    fill_pattern(out, (size_t)bytes, 6);
    MPI_Iprobe(MPI_ANY_SOURCE, 13, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag == 0, "MPI-5.0 §3.8.1: nothing was sent");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, bytes, MPI_BYTE, right_neighbour(), 13, MPI_COMM_WORLD, &send);
    for (flag = 0; !flag;)
        MPI_Iprobe(left_neighbour(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag == 1 && status.MPI_TAG == 13, "MPI-5.0 §3.8.1");
    CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §3.8.1");
    /* Probing again sees the same message: a probe does not consume. */
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 1, "MPI-5.0 §3.8.1");
    MPI_Iprobe(left_neighbour(), 14, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "MPI-5.0 §3.8.1: another tag");
    MPI_Recv(in, bytes, MPI_BYTE, left_neighbour(), 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(has_pattern(in, (size_t)bytes, 6), "MPI-5.0 §3.8.1");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A probe reports the message that the receive with the same arguments would take: the oldest. */
static void oldest(void)
{
    int values[3] = { 0, 1, 2 };
    MPI_Request sends[3];
    MPI_Status status;
    for (int i = 0; i < 3; i++)
        MPI_Isend(values, i + 1, MPI_INT, right_neighbour(), 20 + i, MPI_COMM_WORLD, &sends[i]);
    MPI_Probe(left_neighbour(), 22, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, MPI_INT), 3, "MPI-5.0 §3.8.1");
    for (int i = 0; i < 3; i++) {
        int got[3];
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status.MPI_TAG, 20 + i, "MPI-5.0 §3.8.1");
        MPI_Recv(got, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status_count(&status, MPI_INT), i + 1, "MPI-5.0 §3.8.1");
    }
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A message that a posted receive has taken is not seen. */
static void matched_is_hidden(void)
{
    int got = -1, value = 5, flag = -1;
    MPI_Request receive;
    MPI_Irecv(&got, 1, MPI_INT, left_neighbour(), 30, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, right_neighbour(), 30, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "MPI-5.0 §3.8.1");
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 5, "MPI-5.0 §3.8.1");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "probe");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        blocking(sizes[s], left_neighbour(), 12);
        blocking(sizes[s], MPI_ANY_SOURCE, 12);
        blocking(sizes[s], left_neighbour(), MPI_ANY_TAG);
        blocking(sizes[s], MPI_ANY_SOURCE, MPI_ANY_TAG);
        polling(sizes[s]);
    }
    oldest();
    matched_is_hidden();
    return check_finish();
}
