/* What performance variables count: known traffic, seen by handles that run, do not, or are in another session; reset,
 * written, read and reset at once, all handles together. MPI-5.0 §15.3.7. */
#include "check_tools.h"

enum { SHORT = 20, LONG = 3, LENGTH = 1 << 20 };
static char *buffer;

static MPI_T_pvar_session session;

/* Each rank sends to its right neighbour and receives from its left. */
static void traffic(int bytes, int messages)
{
    for (int i = 0; i < messages; i++)
        MPI_Sendrecv(buffer, bytes, MPI_BYTE, right_neighbour(), 5, buffer + LENGTH, bytes, MPI_BYTE, left_neighbour(),
                     5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void messages(void)
{
    MPI_T_pvar_handle eager = variable(session, "weft_messages_eager");
    MPI_T_pvar_handle rendezvous = variable(session, "weft_messages_rendezvous");
    MPI_T_pvar_handle idle = variable(session, "weft_messages_eager");
    traffic(8, 2);
    CHECK_EQUAL(value_of(session, eager), 0, "MPI-5.0 §15.3.7: not started");
    MPI_T_pvar_start(session, eager);
    MPI_T_pvar_start(session, rendezvous);
    traffic(8, SHORT);
    traffic(LENGTH, LONG);
    MPI_T_pvar_stop(session, eager);
    MPI_T_pvar_stop(session, rendezvous);
    traffic(8, 4);
    traffic(LENGTH, 1);
    /* Of one's own messages none goes through a transport. */
    int alone = size_of_world == 1;
    CHECK_EQUAL(value_of(session, eager), alone ? 0 : SHORT, "MPI-5.0 §15.3.7: between start and stop");
    CHECK_EQUAL(value_of(session, rendezvous), alone ? 0 : LONG, "MPI-5.0 §15.3.7: between start and stop");
    CHECK_EQUAL(value_of(session, idle), 0, "MPI-5.0 §15.3.7: never started");
    number value = 1000, read = 0;
    MPI_T_pvar_write(session, eager, &value);
    MPI_T_pvar_start(session, eager);
    traffic(8, 2);
    CHECK_EQUAL(MPI_T_pvar_readreset(session, eager, &read), MPI_SUCCESS, "MPI-5.0 §15.3.7");
    CHECK_EQUAL(read, alone ? 1000 : 1002, "MPI-5.0 §15.3.7: on from what was written");
    traffic(8, 3);
    CHECK_EQUAL(value_of(session, eager), alone ? 0 : 3, "MPI-5.0 §15.3.7: from zero again");
    MPI_T_pvar_reset(session, eager);
    CHECK_EQUAL(value_of(session, eager), 0, "MPI-5.0 §15.3.7");
    MPI_T_pvar_handle_free(session, &eager);
    MPI_T_pvar_handle_free(session, &rendezvous);
    MPI_T_pvar_handle_free(session, &idle);
    CHECK(eager == MPI_T_PVAR_HANDLE_NULL, "MPI-5.0 §15.3.7");
}

/* Messages that nobody has received yet, and receives that nothing has come for. A few more may be a barrier's. */
static void queues(void)
{
    MPI_T_pvar_handle length = variable(session, "weft_unexpected_length");
    MPI_T_pvar_handle posted = variable(session, "weft_posted_length");
    MPI_T_pvar_handle came = variable(session, "weft_messages_unexpected");
    MPI_Request requests[SHORT];
    MPI_T_pvar_start(session, came);
    number posted_before = value_of(session, posted), here;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < SHORT; i++)
        MPI_Send(buffer, 100, MPI_BYTE, right_neighbour(), i, MPI_COMM_WORLD);
    MPI_Probe(left_neighbour(), SHORT - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    here = value_of(session, length);
    CHECK(here >= SHORT && here < SHORT + 10, "all are here: messages of one sender keep their order", "%llu", here);
    CHECK(value_of(session, came) >= SHORT, "MPI-5.0 §15.3.7");
    for (int i = 0; i < SHORT; i++)
        MPI_Recv(buffer, 100, MPI_BYTE, left_neighbour(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    here = value_of(session, length);
    CHECK(here < 10, "MPI-5.0 §15.3.7: a level falls again", "%llu", here);
    for (int i = 0; i < SHORT; i++)
        MPI_Irecv(buffer, 100, MPI_BYTE, left_neighbour(), i, MPI_COMM_WORLD, &requests[i]);
    CHECK_EQUAL(value_of(session, posted) - posted_before, SHORT, "MPI-5.0 §15.3.7");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < SHORT; i++)
        MPI_Send(buffer + LENGTH, 100, MPI_BYTE, right_neighbour(), i, MPI_COMM_WORLD);
    MPI_Waitall(SHORT, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(value_of(session, posted), posted_before, "MPI-5.0 §15.3.7");
    CHECK_EQUAL(MPI_T_pvar_start(session, length), MPI_T_ERR_PVAR_NO_STARTSTOP, "MPI-5.0 §15.3.10: continuous");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All handles of a session at once; another session is not touched. */
static void all_handles(void)
{
    MPI_T_pvar_session other;
    MPI_T_pvar_session_create(&other);
    MPI_T_pvar_handle mine = variable(session, "weft_lane_entries"), theirs = variable(other, "weft_lane_entries");
    variable(session, "weft_posted_length");
    CHECK_EQUAL(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "MPI-5.0 §15.3.7: those that can be");
    traffic(8, 5);
    number seen = value_of(session, mine);
    CHECK(seen >= 10, "a send and a receive each enter a lane", "%llu", seen);
    CHECK_EQUAL(value_of(other, theirs), 0, "MPI-5.0 §15.3.7: sessions are apart");
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    seen = value_of(session, mine);
    traffic(8, 5);
    CHECK_EQUAL(value_of(session, mine), seen, "MPI-5.0 §15.3.7: stopped");
    CHECK_EQUAL(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "MPI-5.0 §15.3.7");
    CHECK_EQUAL(value_of(session, mine), 0, "MPI-5.0 §15.3.7");
    number value;
    CHECK_EQUAL(MPI_T_pvar_read(other, mine, &value), MPI_T_ERR_INVALID_HANDLE, "MPI-5.0 §15.3.10: another session's");
    MPI_T_pvar_session stale = other;
    MPI_T_pvar_session_free(&other);
    CHECK(other == MPI_T_PVAR_SESSION_NULL, "MPI-5.0 §15.3.7");
    CHECK_EQUAL(MPI_T_pvar_read(stale, theirs, &value), MPI_T_ERR_INVALID_SESSION, "MPI-5.0 §15.3.10");
}

/* The state is an int, one of its enumeration. */
static void state(void)
{
    MPI_T_pvar_handle waiting = variable(session, "weft_waiting");
    int value[2] = { -1, -1 };
    CHECK_EQUAL(MPI_T_pvar_read(session, waiting, value), MPI_SUCCESS, "MPI-5.0 §15.3.7");
    CHECK((value[0] == 0 || value[0] == 1) && value[1] == -1, "MPI-5.0 §15.3.7: an int");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    check_start(&argc, &argv, "counting");
    buffer = need(2 * LENGTH);
    memset(buffer, 0, 2 * LENGTH);
    messages();
    queues();
    all_handles();
    state();
    free(buffer);
    check_report();
    MPI_Finalize();
    MPI_T_pvar_handle after = variable(session, "weft_messages_eager");
    CHECK_EQUAL(value_of(session, after), 0, "MPI-5.0 §15.3.4: after MPI_Finalize as well");
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return 0;
}
