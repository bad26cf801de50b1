/* Buffered sends with the buffer of a session: MPI-5.0 §3.6. Whose buffer a send takes shows in whose flush it waits for, and
 * in whose lack of room is an error. */
#include "session.h"

enum { BYTES = 3000, MESSAGES = 12, LONG = 1 << 20, DATA = 1, GO = 2 };

static unsigned char out[LONG], in[LONG];
static MPI_Session session;

/* Every rank sends all before it receives any. */
static void ring(MPI_Comm comm)
{
    for (int i = 0; i < MESSAGES; i++) {
        fill_pattern(out, BYTES, (unsigned)i);
        CHECK_EQUAL(MPI_Bsend(out, BYTES, MPI_BYTE, right_neighbour(), DATA, comm), MPI_SUCCESS, "MPI-5.0 §3.6");
        memset(out, 0xEE, BYTES);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(in, BYTES, MPI_BYTE, left_neighbour(), DATA, comm, MPI_STATUS_IGNORE);
        CHECK(has_pattern(in, BYTES, (unsigned)i), "MPI-5.0 §3.6");
    }
}

/* All communicators that come from a group of the session use its buffer; no other buffer is there. */
static void derived(MPI_Comm comm)
{
    int size = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD);
    MPI_Count got_size = -1;
    void *buffer = need((size_t)size), *got = NULL;
    MPI_Comm made[6];
    MPI_Group group, part;
    int all[1][3] = {{0, size_of_world - 1, 1}}, dims[1] = {size_of_world}, periods[1] = {1};
    MPI_Request flush;
    MPI_Session_attach_buffer_c(session, buffer, size);
    MPI_Comm_dup(comm, &made[0]);
    MPI_Comm_split(comm, 0, rank_of_world, &made[1]);
    MPI_Comm_idup(made[1], &made[2], &flush);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    MPI_Cart_create(made[2], 1, dims, periods, 0, &made[3]);
    MPI_Comm_group(made[3], &group);
    MPI_Group_range_incl(group, 1, all, &part);
    MPI_Comm_create_from_group(part, "part", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made[4]);
    MPI_Comm_create(made[4], group, &made[5]);
    MPI_Group_free(&part);
    MPI_Group_free(&group);
    ring(comm);
    for (int i = 0; i < 6; i++) {
        MPI_Session_flush_buffer(session);
        ring(made[i]);
        MPI_Comm_free(&made[i]);
    }
    MPI_Session_iflush_buffer(session, &flush);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer_c(session, &got, &got_size);
    CHECK(got == buffer && got_size == size, "MPI-5.0 §3.6");
    free(buffer);
}

/* An inter-communicator, and what it is merged into. */
static void between(MPI_Comm comm)
{
    MPI_Comm half, inter, merged;
    int first = rank_of_world < (size_of_world + 1) / 2, remote, value = -1, rank;
    if (size_of_world < 2)
        return;
    MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
    MPI_Comm_split(comm, first, rank_of_world, &half);
    MPI_Intercomm_create(half, 0, comm, first ? (size_of_world + 1) / 2 : 0, 7, &inter);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(half, &rank);
    if (rank == 0) {
        MPI_Bsend(&remote, 1, MPI_INT, 0, DATA, inter);
        MPI_Recv(&value, 1, MPI_INT, 0, DATA, inter, MPI_STATUS_IGNORE);
        CHECK_EQUAL(value + remote, size_of_world, "MPI-5.0 §3.6");
    }
    MPI_Intercomm_merge(inter, !first, &merged);
    ring(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    void *got = NULL;
    int got_size;
    MPI_Session_detach_buffer(session, &got, &got_size);
    CHECK(got == MPI_BUFFER_AUTOMATIC, "MPI-5.0 §3.6");
}

/* The communicator's buffer goes before the session's, the session's before the process's, and one too small is not made up
 * for by the next. */
static void order(MPI_Comm comm)
{
    char small[3][16];
    void *got = NULL;
    int size, class;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int level = 0; level < 3; level++) {
        MPI_Buffer_attach(level == 2 ? small[0] : MPI_BUFFER_AUTOMATIC, sizeof small[0]);
        MPI_Session_attach_buffer(session, level == 1 ? small[1] : MPI_BUFFER_AUTOMATIC, sizeof small[1]);
        MPI_Comm_attach_buffer(comm, level == 0 ? small[2] : MPI_BUFFER_AUTOMATIC, sizeof small[2]);
        if (level > 0)
            MPI_Comm_detach_buffer(comm, &got, &size);
        if (level > 1)
            MPI_Session_detach_buffer(session, &got, &size);
        MPI_Error_class(MPI_Bsend(out, BYTES, MPI_BYTE, right_neighbour(), DATA, comm), &class);
        CHECK_EQUAL(class, MPI_ERR_BUFFER, "MPI-5.0 §3.6: one buffer serves a send");
        if (level == 0)
            MPI_Comm_detach_buffer(comm, &got, &size);
        if (level <= 1)
            MPI_Session_detach_buffer(session, &got, &size);
        MPI_Buffer_detach(&got, &size);
        CHECK(level == 2 ? got == small[0] : got == MPI_BUFFER_AUTOMATIC, "MPI-5.0 §3.6");
    }
    MPI_Error_class(MPI_Bsend(out, BYTES, MPI_BYTE, right_neighbour(), DATA, comm), &class);
    CHECK_EQUAL(class, MPI_ERR_BUFFER, "MPI-5.0 §3.6: no buffer is as one of no bytes");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* A flush of the session waits for the session's messages, and not for another session's. */
static void flushes(MPI_Comm comm)
{
    MPI_Session other = open_session();
    MPI_Request mine, theirs;
    int to = rank_of_world ^ 1, flag = -1, token = 0;
    MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
    MPI_Session_attach_buffer(other, MPI_BUFFER_AUTOMATIC, 0);
    if (to < size_of_world && rank_of_world < to) {
        MPI_Bsend(out, LONG, MPI_BYTE, to, DATA, comm);
        MPI_Session_iflush_buffer(session, &mine);
        MPI_Session_iflush_buffer(other, &theirs);
        MPI_Test(&theirs, &flag, MPI_STATUS_IGNORE);
        CHECK_EQUAL(flag, 1, "MPI-5.0 §3.6: nothing is in that buffer");
        MPI_Test(&mine, &flag, MPI_STATUS_IGNORE);
        CHECK_EQUAL(flag, 0, "MPI-5.0 §3.6: the other has not received");
        MPI_Send(&token, 1, MPI_INT, to, GO, comm);
        MPI_Wait(&mine, MPI_STATUS_IGNORE);
    } else if (to < size_of_world) {
        MPI_Recv(&token, 1, MPI_INT, to, GO, comm, MPI_STATUS_IGNORE);
        MPI_Recv(in, LONG, MPI_BYTE, to, DATA, comm, MPI_STATUS_IGNORE);
    }
    /* Both are detached with their sessions. */
    close_session(&other);
}

int main(void)
{
    session = open_session();
    MPI_Comm comm = comm_of_set(session, "mpi://WORLD", "buffers");
    adopt_comm(comm, "buffered_by_session");
    derived(comm);
    between(comm);
    order(comm);
    flushes(comm);
    report_on(comm);
    MPI_Comm_free(&comm);
    close_session(&session);
    return 0;
}
