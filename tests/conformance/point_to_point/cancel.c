/* MPI_Cancel: of receives, which always succeeds before the match, and of sends, which may or may not. */
#include "check.h"

static int was_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int flag = -1;
    CHECK_EQUAL(MPI_Wait(request, &status), MPI_SUCCESS, "MPI-5.0 §3.8.4: completion is local");
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag == 0 || flag == 1, "MPI-5.0 §3.8.4");
    return flag;
}

/* A receive that nothing can match is cancelled, whatever its wildcards. */
static void unmatched_receive(int source, int tag)
{
    int value = 66;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    CHECK_EQUAL(MPI_Cancel(&request), MPI_SUCCESS, "MPI-5.0 §3.8.4");
    CHECK(request != MPI_REQUEST_NULL, "MPI-5.0 §3.8.4: it is still to be completed");
    CHECK_EQUAL(was_cancelled(&request), 1, "MPI-5.0 §3.8.4");
    CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.8.4");
    CHECK_EQUAL(value, 66, "MPI-5.0 §3.8.4");
}

/* After a cancel, the message goes to the next receive. */
static void message_goes_on(void)
{
    int first = -1, second = -1, value = 12;
    MPI_Request cancelled, receive;
    MPI_Irecv(&first, 1, MPI_INT, left_neighbour(), 3, MPI_COMM_WORLD, &cancelled);
    MPI_Irecv(&second, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
    MPI_Cancel(&cancelled);
    CHECK_EQUAL(was_cancelled(&cancelled), 1, "MPI-5.0 §3.8.4");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, right_neighbour(), 3, MPI_COMM_WORLD);
    CHECK_EQUAL(was_cancelled(&receive), 0, "MPI-5.0 §3.8.4");
    CHECK(first == -1 && second == 12, "MPI-5.0 §3.8.4");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A receive already matched completes normally. */
static void matched_receive(void)
{
    int got = -1, value = 13;
    MPI_Request receive;
    MPI_Irecv(&got, 1, MPI_INT, left_neighbour(), 4, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, right_neighbour(), 4, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&receive);
    CHECK_EQUAL(was_cancelled(&receive), 0, "MPI-5.0 §3.8.4");
    CHECK_EQUAL(got, 13, "MPI-5.0 §3.8.4");
}

/* A persistent receive is cancelled, then started again and works. */
static void persistent_receive(void)
{
    int got = -1, value = 14;
    MPI_Request receive;
    MPI_Recv_init(&got, 1, MPI_INT, left_neighbour(), 5, MPI_COMM_WORLD, &receive);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&receive);
        MPI_Cancel(&receive);
        CHECK_EQUAL(was_cancelled(&receive), 1, "MPI-5.0 §3.8.4");
        CHECK(receive != MPI_REQUEST_NULL, "MPI-5.0 §3.9");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&receive);
        MPI_Send(&value, 1, MPI_INT, right_neighbour(), 5, MPI_COMM_WORLD);
        CHECK_EQUAL(was_cancelled(&receive), 0, "MPI-5.0 §3.8.4");
        CHECK_EQUAL(got, 14, "MPI-5.0 §3.8.4");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&receive);
}

/* Either the send is cancelled and its message never arrives, or it is not and the message does. A marker
 * message behind it on the same path tells which. */
static void send(int bytes, int synchronous)
{
    char *out = need((size_t)bytes), *in = need((size_t)bytes);
    MPI_Request request;
    MPI_Status status;
    int marker = 1, marked = 0, arrived = 0;
    fill_pattern(out, (size_t)bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (synchronous)
        MPI_Issend(out, bytes, MPI_BYTE, partner(), 6, MPI_COMM_WORLD, &request);
    else
        MPI_Isend(out, bytes, MPI_BYTE, partner(), 6, MPI_COMM_WORLD, &request);
    CHECK_EQUAL(MPI_Cancel(&request), MPI_SUCCESS, "MPI-5.0 §3.8.4");
    MPI_Request marker_send;
    MPI_Isend(&marker, 1, MPI_INT, partner(), 7, MPI_COMM_WORLD, &marker_send);
    for (;;) {
        MPI_Probe(partner(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 7)
            break;
        MPI_Recv(in, bytes, MPI_BYTE, partner(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_pattern(in, (size_t)bytes, 1), "MPI-5.0 §3.8.4");
        arrived++;
    }
    MPI_Recv(&marked, 1, MPI_INT, partner(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int mine = was_cancelled(&request), theirs = -1;
    MPI_Wait(&marker_send, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&mine, 1, MPI_INT, partner(), 8, &theirs, 1, MPI_INT, partner(), 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(arrived, !theirs, "MPI-5.0 §3.8.4: cancelled or delivered, never both or neither");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "cancel");
    unmatched_receive(left_neighbour(), 1);
    unmatched_receive(MPI_ANY_SOURCE, 1);
    unmatched_receive(left_neighbour(), MPI_ANY_TAG);
    unmatched_receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    MPI_Barrier(MPI_COMM_WORLD);
    message_goes_on();
    matched_receive();
    persistent_receive();
    for (int synchronous = 0; synchronous < 2; synchronous++) {
        send(8, synchronous);
        send(5000, synchronous);
        send(1000000, synchronous);
    }
    return check_finish();
}
