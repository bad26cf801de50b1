/* Many outstanding requests, posted and sent in orders that have nothing in common; all tags distinct, all
 * tags equal, all unexpected. */
#include "check.h"

enum { REQUESTS = 4096 };
static int out[REQUESTS], in[REQUESTS];
static MPI_Request sends[REQUESTS], receives[REQUESTS];

static int scattered(int i, int stride) { return (int)(((long)i * stride + 17) % REQUESTS); }

/* The strides are odd: each visits every index once. */
static void distinct_tags(int receive_stride, int send_stride, int send_first, int source)
{
    for (int phase = 0; phase < 2; phase++) {
        if (phase == send_first)
            for (int k = 0; k < REQUESTS; k++) {
                int tag = scattered(k, receive_stride);
                in[tag] = -1;
                MPI_Irecv(&in[tag], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &receives[tag]);
            }
        else
            for (int k = 0; k < REQUESTS; k++) {
                int tag = scattered(k, send_stride);
                out[tag] = 3 * tag + rank_of_world;
                MPI_Isend(&out[tag], 1, MPI_INT, right_neighbour(), tag, MPI_COMM_WORLD, &sends[tag]);
            }
    }
    MPI_Waitall(REQUESTS, receives, MPI_STATUSES_IGNORE);
    for (int tag = 0; tag < REQUESTS; tag++)
        CHECK_EQUAL(in[tag], 3 * tag + left_neighbour(), "MPI-5.0 §3.5");
    MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The order of posting alone tells which message goes where. */
static void one_tag(int source, int tag, int send_first)
{
    for (int phase = 0; phase < 2; phase++)
        for (int i = 0; i < REQUESTS; i++) {
            if (phase == send_first) {
                in[i] = -1;
                MPI_Irecv(&in[i], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &receives[i]);
            } else {
                out[i] = 7 * i;
                MPI_Isend(&out[i], 1, MPI_INT, right_neighbour(), 9, MPI_COMM_WORLD, &sends[i]);
            }
        }
    MPI_Waitall(REQUESTS, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < REQUESTS; i++)
        CHECK_EQUAL(in[i], 7 * i, "MPI-5.0 §3.5");
    MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "outstanding");
    for (int send_first = 0; send_first < 2; send_first++) {
        distinct_tags(1, 1, send_first, left_neighbour());
        distinct_tags(REQUESTS - 1, 1, send_first, left_neighbour());
        distinct_tags(1237, 4001, send_first, left_neighbour());
        distinct_tags(4001, 1237, send_first, MPI_ANY_SOURCE);
        one_tag(left_neighbour(), 9, send_first);
        one_tag(MPI_ANY_SOURCE, 9, send_first);
        one_tag(left_neighbour(), MPI_ANY_TAG, send_first);
        one_tag(MPI_ANY_SOURCE, MPI_ANY_TAG, send_first);
    }
    return check_finish();
}
