/* MPI_Mprobe, MPI_Improbe, MPI_Mrecv, MPI_Imrecv: a matched message is out of the reach of every receive. */
#include "check.h"

static const int sizes[] = { 0, 1, 40, 5000, 70000, 2000000 };

/* The four ways to match and receive. */
static void receive_matched(int form, void *in, int bytes, MPI_Status *status)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status probed;
    if (form & 1) {
        MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, &probed);
    } else {
        for (int flag = 0; !flag;)
            MPI_Improbe(left_neighbour(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &probed);
    }
    CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC, "MPI-5.0 §3.8.2");
    CHECK(probed.MPI_SOURCE == left_neighbour() && probed.MPI_TAG == 3, "MPI-5.0 §3.8.2");
    CHECK_EQUAL(status_count(&probed, MPI_BYTE), bytes, "MPI-5.0 §3.8.2");
    if (form & 2) {
        MPI_Mrecv(in, bytes, MPI_BYTE, &message, status);
    } else {
        MPI_Imrecv(in, bytes, MPI_BYTE, &message, &request);
        CHECK(message == MPI_MESSAGE_NULL, "MPI-5.0 §3.8.3");
        MPI_Wait(&request, status);
    }
    CHECK(message == MPI_MESSAGE_NULL, "MPI-5.0 §3.8.3");
}

static void all_forms(int bytes)
{
    unsigned char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request sends[4];
    MPI_Status status;
    fill_pattern(out, (size_t)bytes, 8);
    for (int form = 0; form < 4; form++) {
        if (form % 2)
            MPI_Issend(out, bytes, MPI_BYTE, right_neighbour(), 3, MPI_COMM_WORLD, &sends[form]);
        else
            MPI_Isend(out, bytes, MPI_BYTE, right_neighbour(), 3, MPI_COMM_WORLD, &sends[form]);
    }
    for (int form = 0; form < 4; form++) {
        memset(in, 0, (size_t)bytes);
        receive_matched(form, in, bytes, &status);
        CHECK(status.MPI_SOURCE == left_neighbour() && status.MPI_TAG == 3, "MPI-5.0 §3.8.3");
        CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes, "MPI-5.0 §3.8.3");
        CHECK(has_pattern(in, (size_t)bytes, 8), "MPI-5.0 §3.8.3");
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Once matched, neither probe nor receive sees the message; the next one is matched instead. */
static void matched_is_out_of_reach(void)
{
    int values[2] = { 111, 222 }, got = -1, flag = -1;
    MPI_Request sends[2];
    MPI_Message message;
    MPI_Isend(&values[0], 1, MPI_INT, right_neighbour(), 4, MPI_COMM_WORLD, &sends[0]);
    MPI_Mprobe(left_neighbour(), 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "MPI-5.0 §3.8.2");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&values[1], 1, MPI_INT, right_neighbour(), 4, MPI_COMM_WORLD, &sends[1]);
    MPI_Recv(&got, 1, MPI_INT, left_neighbour(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 222, "MPI-5.0 §3.8.2");
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 111, "MPI-5.0 §3.8.3");
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Matched messages may be received in any order. */
static void received_in_reverse(void)
{
    enum { MESSAGES = 30 };
    static int values[MESSAGES], got[MESSAGES];
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    MPI_Message messages[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        values[i] = 7 * i;
        MPI_Isend(&values[i], 1, MPI_INT, right_neighbour(), 5, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < MESSAGES; i++)
        MPI_Mprobe(left_neighbour(), 5, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
    for (int i = MESSAGES - 1; i >= 0; i--)
        MPI_Imrecv(&got[i], 1, MPI_INT, &messages[i], &receives[i]);
    MPI_Waitall(MESSAGES, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        CHECK_EQUAL(got[i], 7 * i, "MPI-5.0 §3.8.2: matched in order");
    MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nothing_there(void)
{
    int flag = -1;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "MPI-5.0 §3.8.2");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A matched message longer than the buffer is truncated as any other. */
static void truncated(void)
{
    int values[10] = { 1, 2, 3 }, got[10];
    MPI_Request send;
    MPI_Message message;
    memset(got, 0x33, sizeof got);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(values, 10, MPI_INT, right_neighbour(), 6, MPI_COMM_WORLD, &send);
    MPI_Mprobe(left_neighbour(), 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Mrecv(got, 4, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE,
                "MPI-5.0 §3.8.3");
    CHECK_EQUAL(got[4], 0x33333333, "MPI-5.0 §3.2.4");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "matched_probe");
    nothing_there();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        all_forms(sizes[s]);
    matched_is_out_of_reach();
    received_in_reverse();
    truncated();
    return check_finish();
}
