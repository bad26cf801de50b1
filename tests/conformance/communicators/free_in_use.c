/* A communicator that was freed while requests use it, in all their kinds: they go on in it, and nothing that is sent on a
 * communicator made afterwards comes to them (MPI-5.0 §7.4.3). Each kind is completed by what was prepared before. */
#include "check.h"

enum { OLD = 17, NEW = 71, TAG = 3 };
static const char clause[] = "MPI-5.0 §7.4.3";

/* One message on a communicator, from each rank's left neighbour there. */
static void exchange_on(MPI_Comm comm, int tag)
{
    int size, me, value = NEW, got = -1;
    MPI_Status status;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &me);
    MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % size, tag, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                 &status);
    CHECK_EQUAL(got, NEW, clause);
    CHECK_EQUAL(status.MPI_SOURCE, (me + size - 1) % size, clause);
}

/* `receive` belongs to a communicator that was freed, `in` is its buffer and `send` will fill it. */
static void others_first(MPI_Request *receive, int *in, MPI_Request *send)
{
    for (int more = 0; more < 20; more++) {
        MPI_Comm next;
        int flag = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &next);
        exchange_on(next, TAG);
        MPI_Test(receive, &flag, MPI_STATUS_IGNORE);
        CHECK_EQUAL(flag, 0, clause);
        CHECK_EQUAL(*in, -1, clause);
        MPI_Comm_free(&next);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* before it all have seen that nothing came */
    MPI_Start(send);
    MPI_Wait(receive, MPI_STATUS_IGNORE);
    MPI_Wait(send, MPI_STATUS_IGNORE);
    CHECK_EQUAL(*in, OLD, clause);
    MPI_Request_free(send);
}

static void nonblocking(int source, int tag)
{
    MPI_Comm comm;
    MPI_Request receive, send;
    int out = OLD, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Send_init(&out, 1, MPI_INT, right_neighbour(), TAG, comm, &send);
    MPI_Irecv(&in, 1, MPI_INT, source, tag, comm, &receive);
    MPI_Comm_free(&comm);
    others_first(&receive, &in, &send);
}

static void persistent(int source, int tag, int active)
{
    MPI_Comm comm;
    MPI_Request receive, send;
    int out = OLD, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Send_init(&out, 1, MPI_INT, right_neighbour(), TAG, comm, &send);
    MPI_Recv_init(&in, 1, MPI_INT, source, tag, comm, &receive);
    if (active)
        MPI_Start(&receive);
    MPI_Comm_free(&comm);
    MPI_Comm next;
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    if (!active)
        MPI_Start(&receive);
    exchange_on(next, TAG);
    MPI_Comm_free(&next);
    others_first(&receive, &in, &send);
    MPI_Request_free(&receive);
}

/* Ranks of the new communicator go the other way round: each process receives there from the rank that the old sender has in
 * the old one, and that is another process. Odd ranks are one operation ahead, as the numbers under which partitions travel
 * may count operations. */
static void partitioned(void)
{
    enum { PARTS = 4 };
    MPI_Comm comm, next;
    MPI_Request nobody, old[2], new[2];
    int out[PARTS], in[PARTS], other_out[PARTS], other_in[PARTS];
    for (int p = 0; p < PARTS; p++)
        out[p] = OLD, other_out[p] = NEW, in[p] = other_in[p] = -1;
    if (rank_of_world % 2)
        MPI_Psend_init(out, PARTS, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &nobody);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Precv_init(in, PARTS, 1, MPI_INT, left_neighbour(), TAG, comm, MPI_INFO_NULL, &old[0]);
    MPI_Psend_init(out, PARTS, 1, MPI_INT, right_neighbour(), TAG, comm, MPI_INFO_NULL, &old[1]);
    MPI_Start(&old[0]);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_world, &next);
    int receiver = (size_of_world - rank_of_world) % size_of_world;
    MPI_Precv_init(other_in, PARTS, 1, MPI_INT, left_neighbour(), TAG, next, MPI_INFO_NULL, &new[0]);
    MPI_Psend_init(other_out, PARTS, 1, MPI_INT, size_of_world - 1 - receiver, TAG, next, MPI_INFO_NULL, &new[1]);
    MPI_Startall(2, new);
    MPI_Pready_range(0, PARTS - 1, new[1]);
    MPI_Waitall(2, new, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    int flag = -1;
    MPI_Test(&old[0], &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0, clause);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&old[1]);
    MPI_Pready_range(0, PARTS - 1, old[1]);
    MPI_Waitall(2, old, MPI_STATUSES_IGNORE);
    for (int p = 0; p < PARTS; p++) {
        CHECK_EQUAL(other_in[p], NEW, clause);
        CHECK_EQUAL(in[p], OLD, clause);
    }
    MPI_Comm_free(&next);
    for (int r = 0; r < 2; r++) {
        MPI_Request_free(&old[r]);
        MPI_Request_free(&new[r]);
    }
    if (rank_of_world % 2)
        MPI_Request_free(&nobody);
}

/* Starts need not come in one order (MPI-5.0 §6.13): here the old broadcast's other processes start long before its root. */
static void persistent_collective(void)
{
    MPI_Comm comm, next;
    MPI_Request old, new;
    int root = rank_of_world == 0, was = root ? OLD : -1, is = root ? NEW : -1, flag = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast_init(&was, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &old);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Bcast_init(&is, 1, MPI_INT, 0, next, MPI_INFO_NULL, &new);
    if (!root)
        MPI_Start(&old);
    MPI_Start(&new);
    MPI_Wait(&new, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(is, NEW, clause);
    if (root)
        MPI_Start(&old);
    else if (MPI_Test(&old, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag)
        CHECK_EQUAL(was, OLD, clause);
    MPI_Wait(&old, MPI_STATUS_IGNORE);
    CHECK_EQUAL(was, OLD, clause);
    MPI_Request_free(&old);
    MPI_Request_free(&new);
    MPI_Comm_free(&next);
}

/* What nobody received before the communicator was freed is lost: nobody gets it by another one. */
static void never_received(void)
{
    for (int more = 0; more < 20; more++) {
        MPI_Comm comm, next;
        int out = OLD;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Send(&out, 1, MPI_INT, right_neighbour(), TAG, comm);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &next);
        exchange_on(next, TAG);
        MPI_Comm_free(&next);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "free_in_use");
    for (int wild = 0; wild < 2; wild++) {
        int source = wild ? MPI_ANY_SOURCE : left_neighbour(), tag = wild ? MPI_ANY_TAG : TAG;
        nonblocking(source, tag);
        for (int active = 0; active < 2; active++)
            persistent(source, tag, active);
    }
    partitioned();
    persistent_collective();
    never_received();
    return check_finish();
}
