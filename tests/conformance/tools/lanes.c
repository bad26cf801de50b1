/* How many lanes a process has, by weft_lanes_used: communicators of a program that does not ask for MPI_THREAD_MULTIPLE have a part of
 * all lanes, and those made once it has asked for that, here by a session, have all (MPI-5.0 §11.3.1, §15.3.7). */
#include "check_tools.h"

enum { COPIES = 40, FEW = 8 };

static MPI_Comm copies[2 * COPIES];

/* Messages on new communicators, which stay. */
static void use(MPI_Comm *all)
{
    for (int i = 0; i < COPIES; i++) {
        int to = (rank_of_world + 1) % size_of_world, from = (rank_of_world + size_of_world - 1) % size_of_world, got = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        MPI_Sendrecv(&i, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, all[i], MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, i, "MPI-5.0 §3.5");
    }
}

static number constant(const char *name)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    number value = 0;
    CHECK_EQUAL(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS, "MPI-5.0 §15.3.6");
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    return value;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Info info;
    MPI_Session with_threads;
    MPI_T_pvar_session session;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    check_start(&argc, &argv, "lanes");
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle used = variable(session, "weft_lanes_used");
    use(copies);
    CHECK_EQUAL(value_of(session, used), FEW, "the program has not asked for threads");
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &with_threads);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    use(copies + COPIES);
    CHECK_EQUAL(value_of(session, used), constant("weft_lanes"), "it has");
    for (int i = 0; i < 2 * COPIES; i++)
        MPI_Comm_free(&copies[i]);
    MPI_Session_finalize(&with_threads);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_finish();
}
