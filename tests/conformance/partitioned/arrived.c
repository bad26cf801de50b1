/* MPI_Parrived, partition by partition: a partition is there when all that reaches into it was marked ready, though the
 * rest was not; true on inactive and null requests. MPI-5.0 §4.2.2. */
#include "check.h"

enum { PARTITIONS = 6, BYTES = 6000, GO = 1, DONE = 2 };
static unsigned char buffer[BYTES];

/* Sender and receiver in step: the receiver asks for the next partition only after it has seen this one, so that
 * nothing may wait for the whole message. */
static void send_in_steps(int to, int length)
{
    MPI_Request send;
    int token;
    MPI_Psend_init(buffer, PARTITIONS, length / PARTITIONS, MPI_BYTE, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    for (int round = 0; round < 3; round++) {
        fill_pattern(buffer, length, round);
        MPI_Start(&send);
        for (int p = 0; p < PARTITIONS; p++) {
            MPI_Recv(&token, 1, MPI_INT, to, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQUAL(token, p, "handshake");
            MPI_Pready(p, send);
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&send);
}

/* In partitions of its own. */
static void receive_in_steps(int from, int length, int partitions)
{
    MPI_Request receive;
    int flag = -1, bytes = length / partitions;
    unsigned char *expected = need(length);
    MPI_Precv_init(buffer, partitions, bytes, MPI_BYTE, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Parrived(receive, 0, &flag);
    CHECK_EQUAL(flag, 1, "MPI-5.0 §4.2.2: an inactive request");
    for (int round = 0; round < 3; round++) {
        fill_pattern(expected, length, round);
        memset(buffer, 0xEE, length);
        MPI_Start(&receive);
        for (int p = 0; p < PARTITIONS; p++) {
            int ready_bytes = p * (length / PARTITIONS);
            for (int q = 0; q < partitions; q++) {
                MPI_Parrived(receive, q, &flag);
                if ((q + 1) * bytes > ready_bytes)
                    CHECK_EQUAL(flag, 0, "MPI-5.0 §4.2.2: not marked ready yet");
            }
            MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
            CHECK_EQUAL(flag, 0, "MPI-5.0 §4.2.2: partitions are missing");
            MPI_Send(&p, 1, MPI_INT, from, GO, MPI_COMM_WORLD);
            int whole = (p + 1) * (length / PARTITIONS) / bytes;
            for (int q = 0; q < whole; q++) {
                do
                    MPI_Parrived(receive, q, &flag);
                while (!flag);
                CHECK(memcmp(buffer + q * bytes, expected + q * bytes, bytes) == 0, "MPI-5.0 §4.2.2: its data are there",
                      "round %d partition %d", round, q);
            }
        }
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        CHECK(memcmp(buffer, expected, length) == 0, "MPI-5.0 §4.2.2");
    }
    MPI_Request_free(&receive);
    free(expected);
}

int main(int argc, char **argv)
{
    MPI_Request null = MPI_REQUEST_NULL;
    int flag = -1;
    check_start(&argc, &argv, "arrived");
    MPI_Parrived(null, 0, &flag);
    CHECK_EQUAL(flag, 1, "MPI-5.0 §4.2.2: a null request");
    int other = rank_of_world ^ 1;
    static const int counts[] = { PARTITIONS, 2 * PARTITIONS, PARTITIONS / 2, 1, 4 };
    for (int i = 0; i < 5 && other < size_of_world; i++) {
        int length = i == 2 ? 60 : BYTES;
        if (rank_of_world < other) {
            send_in_steps(other, length);
            receive_in_steps(other, length, counts[i]);
        } else {
            receive_in_steps(other, length, counts[i]);
            send_in_steps(other, length);
        }
    }
    return check_finish();
}
