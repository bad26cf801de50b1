/* Wrong arguments of calls on sessions: MPI-5.0 §11.3, §3.6, §7.4.2, §7.6.2. */
#include "expect.h"

static void nothing(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

static void of_sessions(void)
{
    MPI_Session session, other, stale, null = MPI_SESSION_NULL;
    MPI_Errhandler of_comm, got;
    MPI_Group group;
    MPI_Info info, bad = (MPI_Info)(uintptr_t)0x5000;
    char name[MPI_MAX_PSET_NAME_LEN];
    int length = sizeof name, count;
    MPI_Comm_create_errhandler(nothing, &of_comm);
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &session));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, of_comm, &session));
    EXPECT(MPI_ERR_INFO, MPI_Session_init(bad, MPI_ERRORS_RETURN, &session));
    EXPECT(MPI_ERR_ARG, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL));
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    EXPECT(MPI_ERR_SESSION, MPI_Session_finalize(&null));
    EXPECT(MPI_ERR_ARG, MPI_Session_finalize(NULL));
    EXPECT(MPI_ERR_SESSION, MPI_Session_get_info(MPI_SESSION_NULL, &info));
    EXPECT(MPI_ERR_SESSION, MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &count));
    EXPECT(MPI_ERR_INFO, MPI_Session_get_num_psets(session, bad, &count));
    EXPECT(MPI_ERR_ARG, MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name));
    EXPECT(MPI_ERR_ARG, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &length, name));
    EXPECT(MPI_ERR_ARG, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, NULL, name));
    length = sizeof name;
    EXPECT(MPI_ERR_ARG, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
    CHECK(length == sizeof name, "MPI-5.0 §11.3.2: the wrong call changed no length");
    length = 0;
    EXPECT(MPI_SUCCESS, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
    CHECK(length > 0, "MPI-5.0 §11.3.2: without room the length alone is told");
    EXPECT(MPI_ERR_ARG, MPI_Session_get_pset_info(session, "mpi://NOWHERE", &info));
    EXPECT(MPI_ERR_ARG, MPI_Session_get_pset_info(session, NULL, &info));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Session_set_errhandler(session, of_comm));
    EXPECT(MPI_ERR_SESSION, MPI_Session_get_errhandler(MPI_SESSION_NULL, &got));
    EXPECT(MPI_ERR_SESSION, MPI_Session_call_errhandler(MPI_SESSION_NULL, MPI_ERR_OTHER));
    EXPECT(MPI_ERR_SESSION, MPI_Group_from_session_pset(MPI_SESSION_NULL, "mpi://WORLD", &group));
    EXPECT(MPI_ERR_ARG, MPI_Group_from_session_pset(session, NULL, &group));
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    stale = other;
    MPI_Session_finalize(&other);
    EXPECT(MPI_ERR_SESSION, MPI_Session_finalize(&stale));
    EXPECT(MPI_ERR_SESSION, MPI_Session_get_num_psets(stale, MPI_INFO_NULL, &count));
    MPI_Session_finalize(&session);
    MPI_Errhandler_free(&of_comm);
}

static void of_buffers(void)
{
    MPI_Session session, stale;
    MPI_Request request;
    char space[64], *got;
    int size;
    MPI_Count large_size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    stale = session;
    EXPECT_COUNTS(MPI_ERR_SESSION, Session_attach_buffer, MPI_SESSION_NULL, space, sizeof space);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Session_attach_buffer, session, NULL, sizeof space);
    EXPECT_COUNTS(MPI_ERR_ARG, Session_attach_buffer, session, space, -1);
    MPI_Session_attach_buffer(session, space, sizeof space);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Session_attach_buffer, session, space, sizeof space);
    EXPECT_COUNTS(MPI_ERR_ARG, Session_detach_buffer, session, NULL, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Session_detach_buffer, session, &got, NULL);
    EXPECT(MPI_ERR_SESSION, MPI_Session_detach_buffer_c(MPI_SESSION_NULL, &got, &large_size));
    EXPECT(MPI_ERR_SESSION, MPI_Session_flush_buffer(MPI_SESSION_NULL));
    EXPECT(MPI_ERR_SESSION, MPI_Session_iflush_buffer(MPI_SESSION_NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Session_iflush_buffer(session, NULL));
    MPI_Session_finalize(&session);
    EXPECT(MPI_ERR_SESSION, MPI_Session_attach_buffer(stale, space, sizeof space));
    EXPECT(MPI_ERR_SESSION, MPI_Session_detach_buffer(stale, &got, &size));
    EXPECT(MPI_ERR_SESSION, MPI_Session_flush_buffer(stale));
}

static void of_groups(void)
{
    MPI_Group self, world, none = MPI_GROUP_NULL;
    MPI_Comm comm;
    MPI_Info bad = (MPI_Info)(uintptr_t)0x5000;
    MPI_Errhandler quiet = MPI_ERRORS_RETURN;
    char longest[MPI_MAX_STRINGTAG_LEN + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    EXPECT(MPI_ERR_GROUP, MPI_Comm_create_from_group(none, "a", MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Comm_create_from_group(self, NULL, MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Comm_create_from_group(self, longest, MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_INFO, MPI_Comm_create_from_group(self, "a", bad, quiet, &comm));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Comm_create_from_group(self, "a", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Comm_create_from_group(self, "a", MPI_INFO_NULL, quiet, NULL));
    EXPECT(MPI_ERR_RANK,
           MPI_Intercomm_create_from_groups(self, 1, world, 0, "a", MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_RANK,
           MPI_Intercomm_create_from_groups(self, 0, world, size_of_world, "a", MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_GROUP, MPI_Intercomm_create_from_groups(self, 0, none, 0, "a", MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_GROUP, MPI_Intercomm_create_from_groups(none, 0, world, 0, "a", MPI_INFO_NULL, quiet, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_create_from_groups(self, 0, self, 0, "a", MPI_INFO_NULL, quiet, &comm));
    if (size_of_world > 1) {
        MPI_Group without;
        MPI_Group_excl(world, 1, &rank_of_world, &without);
        EXPECT(MPI_ERR_GROUP, MPI_Comm_create_from_group(without, "a", MPI_INFO_NULL, quiet, &comm));
        MPI_Group_free(&without);
    }
    MPI_Group_free(&self);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "session_arguments");
    of_sessions();
    of_buffers();
    of_groups();
    return expect_finish();
}
