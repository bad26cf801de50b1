/* Contents over several rounds: the same number of partitions on both sides, more at the sender, more at the receiver,
 * numbers that do not divide each other; short and long partitions; marked ready in any order, singly, as a range and
 * as a list. MPI-5.0 §4.2. */
#include "check.h"

enum { ROUNDS = 4, MOST = 1 << 18 };
static unsigned char *out, *in;

static const struct {
    int send_partitions, receive_partitions, bytes;
} shapes[] = {
    { 1, 1, 1 },      { 1, 1, 0 },       { 8, 8, 64 },       { 8, 8, 65536 },   { 12, 1, 1200 },  { 1, 12, 1200 },
    { 4, 6, 240000 }, { 6, 4, 24 },      { 7, 5, 35 * 1000 }, { 64, 16, 65536 }, { 3, 2, 6 },      { 1000, 10, 8000 },
    { 2, 2, MOST },   { 1, 128, MOST },
};

static void mark(int shape, int round, MPI_Request send)
{
    int partitions = shapes[shape].send_partitions;
    if (round == 0) {
        MPI_Pready_range(0, partitions - 1, send);
    } else if (round == 1) {
        for (int p = partitions - 1; p >= 0; p--)
            MPI_Pready(p, send);
    } else if (round == 2) {
        int *list = need(partitions * sizeof *list), length = 0;
        for (int p = 1; p < partitions; p += 2)
            list[length++] = p;
        for (int p = 0; p < partitions; p += 2)
            list[length++] = p;
        MPI_Pready_list(length, list, send);
        MPI_Pready_list(0, NULL, send);
        free(list);
    } else {
        int half = partitions / 2;
        if (half > 0)
            MPI_Pready_range(partitions - half, partitions - 1, send);
        for (int p = 0; p < partitions - half; p++)
            MPI_Pready(p, send);
    }
}

static void exchange(int shape)
{
    int bytes = shapes[shape].bytes, sends = shapes[shape].send_partitions;
    int receives = shapes[shape].receive_partitions;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Psend_init(out, sends, bytes / sends, MPI_BYTE, right_neighbour(), 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(in, receives, bytes / receives, MPI_BYTE, left_neighbour(), 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned seed = 1000u * shape + 10u * round;
        fill_pattern(out, bytes, seed + rank_of_world);
        memset(in, 0, bytes + 1);
        MPI_Startall(2, requests);
        mark(shape, round, requests[0]);
        MPI_Waitall(2, requests, statuses);
        CHECK(has_pattern(in, bytes, seed + left_neighbour()), "MPI-5.0 §4.2.2", "shape %d round %d", shape, round);
        CHECK_EQUAL(in[bytes], 0, "MPI-5.0 §3.2.4: nothing beyond");
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL, "MPI-5.0 §4.2: it can be restarted");
        CHECK_EQUAL(statuses[1].MPI_SOURCE, left_neighbour(), "MPI-5.0 §3.2.5");
        CHECK_EQUAL(statuses[1].MPI_TAG, 3, "MPI-5.0 §3.2.5: the program's tag");
        CHECK_EQUAL(status_count(&statuses[1], MPI_BYTE), bytes, "MPI-5.0 §3.2.5");
        CHECK(status_is_empty(&statuses[0]), "MPI-5.0 §3.7.3: a send's status");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "partitions");
    out = need(MOST + 1);
    in = need(MOST + 1);
    for (int shape = 0; shape < (int)(sizeof shapes / sizeof *shapes); shape++)
        exchange(shape);
    free(out);
    free(in);
    return check_finish();
}
