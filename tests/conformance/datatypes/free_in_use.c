/* MPI_Type_free of a type in use: communication under way and types built on it are not affected
 * (MPI-5.0 §5.1.9). */
#include "check.h"

static int out[300000], in[300000];

static void fill(void)
{
    for (int i = 0; i < 300000; i++) {
        out[i] = i;
        in[i] = -1;
    }
}

static void arrived(int items)
{
    for (int i = 0; i < 3 * items; i++)
        CHECK_EQUAL(in[i], i % 3 ? -1 : i, "MPI-5.0 §5.1.9");
}

static MPI_Datatype every_third(int items)
{
    MPI_Datatype type;
    MPI_Type_vector(items, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_commit(&type); /* twice is the same as once */
    return type;
}

static void pending(int items, int receive_first)
{
    MPI_Datatype send_type = every_third(items), receive_type = every_third(items);
    MPI_Request requests[2];
    fill();
    if (receive_first) {
        MPI_Irecv(in, 1, receive_type, left_neighbour(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Type_free(&receive_type);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Isend(out, 1, send_type, right_neighbour(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&send_type);
    CHECK(send_type == MPI_DATATYPE_NULL, "MPI-5.0 §5.1.9");
    if (!receive_first) {
        MPI_Irecv(in, 1, receive_type, left_neighbour(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Type_free(&receive_type);
    }
    /* New types, which may reuse what the freed ones held. */
    for (int i = 0; i < 100; i++) {
        MPI_Datatype decoy = every_third(2 + i);
        MPI_Type_free(&decoy);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    arrived(items);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent(int items)
{
    MPI_Datatype type = every_third(items);
    MPI_Request requests[2];
    MPI_Recv_init(in, 1, type, left_neighbour(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, type, right_neighbour(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    for (int round = 0; round < 3; round++) {
        fill();
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        arrived(items);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A type built on a freed one, whose parts were never committed. */
static void derived(void)
{
    MPI_Datatype inner, outer;
    int size = -1;
    MPI_Type_vector(4, 1, 3, MPI_INT, &inner);
    MPI_Type_contiguous(1, inner, &outer);
    MPI_Type_free(&inner);
    MPI_Type_commit(&outer);
    MPI_Type_size(outer, &size);
    CHECK_EQUAL(size, 16, "MPI-5.0 §5.1.9");
    fill();
    MPI_Sendrecv(out, 1, outer, right_neighbour(), 1, in, 1, outer, left_neighbour(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 10; i++)
        CHECK_EQUAL(in[i], i % 3 ? -1 : i, "MPI-5.0 §5.1.9");
    MPI_Type_free(&outer);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "free_in_use");
    for (int receive_first = 0; receive_first < 2; receive_first++) {
        pending(2, receive_first);
        pending(2000, receive_first);
        pending(100000, receive_first);
    }
    persistent(5);
    persistent(50000);
    derived();
    return check_finish();
}
