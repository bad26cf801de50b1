/* More communicators at once that do blocking collectives than can have memory of their own to share: all work, the rest by
 * messages, and what is freed can be had again. MPI-5.0 §7.4.2, §6.1. */
#include "check_tools.h"
#include "hosts.h"

enum { MOST = 1024, MORE = 76, COMMUNICATORS = MOST + MORE, OPERATIONS = 10 };

static MPI_Comm comms[COMMUNICATORS];

static void operate(MPI_Comm comm, int number)
{
    for (int i = 0; i < OPERATIONS; i++) {
        int word = rank_of_world + number + i, most = -1;
        MPI_Allreduce(&word, &most, 1, MPI_INT, MPI_MAX, comm);
        CHECK_EQUAL(most, size_of_world - 1 + number + i, "MPI-5.0 §6.9.6");
    }
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle arenas, refused;
    int provided, share;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    check_start(&argc, &argv, "many_arenas");
    int *first = first_sharing();
    share = ranks_beside(first) > 1;
    free(first);
    MPI_T_pvar_session_create(&session);
    arenas = variable(session, "weft_arenas");
    refused = variable(session, "weft_arenas_refused");
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    number made = value_of(session, arenas);
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < COMMUNICATORS; i++)
        operate(comms[i], i);
    for (int i = COMMUNICATORS - 1; i >= 0; i--)
        operate(comms[i], i);
    CHECK(value_of(session, arenas) - made <= MOST, "a process has a bound on them");
    CHECK(value_of(session, refused) >= (number)(share * MORE), "the rest are refused");
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comms[i]);
    made = value_of(session, arenas);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    operate(comms[0], 0);
    CHECK_EQUAL(value_of(session, arenas), made + (number)share, "there is room again");
    MPI_Comm_free(&comms[0]);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_finish();
}
