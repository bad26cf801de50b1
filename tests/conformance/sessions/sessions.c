/* Sessions without the world model: process sets, groups and communicators of them: MPI-5.0 §11.3, §7.4.2, §7.6.2. */
#include "session.h"

static int has_value(MPI_Info info, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag = 0;
    MPI_Info_get_string(info, key, &length, value, &flag);
    return flag && (!expected || strcmp(value, expected) == 0);
}

static void no_world(void)
{
    int flag = -1;
    MPI_Initialized(&flag);
    CHECK(!flag, "MPI-5.0 §11.2.1: it tells of the world model");
    MPI_Finalized(&flag);
    CHECK(!flag, "MPI-5.0 §11.2.2");
}

/* A session provides the level that is asked for by the standard's key, or by the one of Open MPI's first sessions. */
static void levels(void)
{
    static const char *const names[] = { "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                         "MPI_THREAD_MULTIPLE" };
    MPI_Session sessions[4];
    MPI_Info info, used;
    for (int i = 0; i < 4; i++) {
        MPI_Info_create(&info);
        MPI_Info_set(info, i % 2 ? "thread_level" : "mpi_thread_support_level", names[i]);
        MPI_Session_init(info, MPI_ERRORS_RETURN, &sessions[i]);
        MPI_Info_free(&info);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Session_get_info(sessions[i], &used);
        CHECK(has_value(used, "thread_level", names[i]), "MPI-5.0 §11.3.1", "%s", names[i]);
        MPI_Info_free(&used);
        close_session(&sessions[i]);
    }
}

static void infos(void)
{
    MPI_Info info, used;
    MPI_Session session;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi:alloc_mem,cuda:device");
    MPI_Info_set(info, "nobody_knows_it", "x");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &used);
    CHECK(has_value(used, "thread_level", "MPI_THREAD_MULTIPLE"), "MPI-5.0 §11.3.1");
    CHECK(has_value(used, "mpi_memory_alloc_kinds", NULL), "MPI-5.0 §11.4.3");
    CHECK(!has_value(used, "nobody_knows_it", NULL), "MPI-5.0 §11.3.1");
    MPI_Info_free(&used);
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session, "MPI-5.0 §20.3.4");
    close_session(&session);
}

/* Each set by its number: its name at its length, cut, and not at all. */
static void sets(MPI_Session session)
{
    int count = 0, world = 0, self = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2, "MPI-5.0 §11.3.2");
    for (int n = 0; n < count; n++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[4] = "...", size[16];
        int length = 0, flag = 0, room = sizeof size, in_group;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL);
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN, "MPI-5.0 §11.3.2");
        int needed = length;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name);
        CHECK_EQUAL(length, (int)strlen(name) + 1, "MPI-5.0 §11.3.2");
        length = 3;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, cut);
        CHECK(length == needed && strncmp(cut, name, 2) == 0 && !cut[2], "MPI-5.0 §11.3.2");
        MPI_Info info;
        MPI_Group group;
        MPI_Session_get_pset_info(session, name, &info);
        MPI_Info_get_string(info, "mpi_size", &room, size, &flag);
        MPI_Info_free(&info);
        MPI_Group_from_session_pset(session, name, &group);
        MPI_Group_size(group, &in_group);
        CHECK(flag && atoi(size) == in_group, "MPI-5.0 §11.3.2");
        world += !strcmp(name, "mpi://WORLD") && in_group == size_of_world;
        self += !strcmp(name, "mpi://SELF") && in_group == 1;
        MPI_Group_free(&group);
    }
    CHECK(world == 1 && self == 1, "MPI-5.0 §11.3.2");
    MPI_Group none;
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &none), MPI_ERR_ARG, "a set that there is not");
    CHECK(none == MPI_GROUP_NULL, "MPI-5.0 §7.3.2");
    MPI_Session_set_errhandler(session, MPI_ERRORS_ARE_FATAL);
}

/* A group of every second process, and what is left of the world; both at once. */
static void parts(MPI_Session session)
{
    MPI_Group world, mine, other, even;
    MPI_Comm comm, inter, merged;
    int range[1][3] = { { 0, size_of_world - 1, 2 } }, rank, size, remote;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_range_incl(world, 1, range, &even);
    if (rank_of_world % 2 == 0) {
        mine = even;
        MPI_Group_difference(world, even, &other);
    } else {
        MPI_Group_difference(world, even, &mine);
        other = even;
    }
    MPI_Comm_create_from_group(mine, "part", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    CHECK_EQUAL(rank, rank_of_world / 2, "MPI-5.0 §7.4.2");
    use_comm(comm);
    MPI_Comm_free(&comm);
    if (size_of_world == 1) {
        CHECK(other == MPI_GROUP_EMPTY, "MPI-5.0 §7.3.2");
        MPI_Comm_create_from_group(other, "none", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.2: the empty group");
    } else {
        MPI_Group_size(mine, &size);
        /* The last of each group leads; the remote group counts there only. */
        int leads = rank == size - 1, other_size = size_of_world - size;
        MPI_Intercomm_create_from_groups(mine, size - 1, leads ? other : MPI_GROUP_NULL, leads ? other_size - 1 : -5,
                                         "between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
        MPI_Comm_remote_size(inter, &remote);
        CHECK_EQUAL(remote, other_size, "MPI-5.0 §7.6.2");
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(inter, &handler);
        CHECK(handler == MPI_ERRORS_RETURN, "MPI-5.0 §7.6.2");
        MPI_Intercomm_merge(inter, rank_of_world % 2, &merged);
        use_comm(merged);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&inter);
    }
    MPI_Group_free(&mine);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

static void hints_and_handler(MPI_Session session)
{
    MPI_Info info, used;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "hints", info, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_get_info(comm, &used);
    CHECK(has_value(used, "mpi_assert_no_any_tag", "true"), "MPI-5.0 §7.4.4");
    CHECK(has_value(used, "mpi_assert_no_any_source", "false"), "MPI-5.0 §7.4.4");
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == MPI_ERRORS_RETURN, "MPI-5.0 §7.4.2");
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

static int failures;
static MPI_Session failed_session;

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)code;
    failures++;
    failed_session = *session;
}

static void handlers(void)
{
    MPI_Errhandler handler, got;
    MPI_Session session;
    MPI_Info info;
    int length = 0;
    MPI_Session_create_errhandler(on_session, &handler);
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    MPI_Session_get_errhandler(session, &got);
    CHECK(got == handler, "MPI-5.0 §9.3.5");
    MPI_Errhandler_free(&got);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &length, NULL), MPI_ERR_ARG, "MPI-5.0 §11.3.2");
    CHECK(failures == 1 && failed_session == session, "MPI-5.0 §9.3.5");
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(failures == 2 && failed_session == session, "MPI-5.0 §9.5");
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Session_get_pset_info(session, "mpi://NOWHERE", &info);
    CHECK_EQUAL(failures, 2, "MPI-5.0 §9.3.5");
    close_session(&session);
    /* The handler that a call is given for what it makes gets the call's own errors. */
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MANY");
    CHECK_CLASS(MPI_Session_init(info, handler, &session), MPI_ERR_INFO_VALUE, "MPI-5.0 §11.3.1");
    CHECK(failures == 3 && failed_session == MPI_SESSION_NULL, "MPI-5.0 §11.3.1");
    MPI_Info_free(&info);
    MPI_Errhandler_free(&handler);
}

int main(void)
{
    no_world();
    MPI_Session session = open_session();
    no_world();
    MPI_Comm world = comm_of_set(session, "mpi://WORLD", "start");
    adopt_comm(world, "sessions");
    use_comm(world);
    sets(session);
    parts(session);
    hints_and_handler(session);
    handlers();
    levels();
    infos();
    MPI_Comm self = comm_of_set(session, "mpi://SELF", "own");
    use_comm(self);
    MPI_Comm_free(&self);
    /* Sessions beside each other, and one after the other. */
    for (int i = 0; i < 20; i++) {
        MPI_Session second = open_session();
        MPI_Comm comm = comm_of_set(second, "mpi://WORLD", "again");
        use_comm(comm);
        MPI_Comm_free(&comm);
        close_session(&second);
        use_comm(world);
    }
    report_on(world);
    MPI_Comm_free(&world);
    close_session(&session);
    no_world();
    return 0;
}
