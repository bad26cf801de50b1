/* Communicators whose program promises to use no wildcards: every way to make one, every promise, and messages of all kinds
 * that meet their receives as on any other. MPI-5.0 §7.4.4. */
#include "check.h"

enum { TAGS = 40, PER_TAG = 3, LONG = 50000 };

static const char *const keys[] = { "mpi_assert_no_any_tag", "mpi_assert_no_any_source" };

static MPI_Info promise(int no_tag, int no_source)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, keys[0], no_tag ? "true" : "false");
    MPI_Info_set(info, keys[1], no_source ? "true" : "false");
    return info;
}

static int is_in_force(MPI_Comm comm, int which)
{
    char value[8] = "";
    int length = sizeof value, flag = 0;
    MPI_Info info;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, keys[which], &length, value, &flag);
    MPI_Info_free(&info);
    CHECK(flag, "MPI-5.0 §7.4.4");
    return !strcmp(value, "true");
}

static void set(MPI_Comm comm, int no_tag, int no_source)
{
    MPI_Info info = promise(no_tag, no_source);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* Whom this process sends to, and who sends to it: the same rank of the other group of an inter-communicator, or neighbours. */
static int to, from;

static void find_partners(MPI_Comm comm)
{
    int rank, size, inter;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_test_inter(comm, &inter);
    to = inter ? rank : (rank + 1) % size;
    from = inter ? rank : (rank + size - 1) % size;
}

/* Near each other and far apart. */
static int tag_of(int t) { return t << t % 3 * 8; }

static int value_of(int tag, int number) { return tag * 100 + number; }

/* Tags far apart and near, the messages of each in order: received before they come, after, and by probe. */
static void exchange(MPI_Comm comm)
{
    static int in[TAGS][PER_TAG], out[TAGS][PER_TAG];
    MPI_Request receives[TAGS * PER_TAG], sends[TAGS * PER_TAG];
    for (int late = 0; late < 2; late++) {
        memset(in, 0, sizeof in);
        for (int pass = 0; pass < 2; pass++) {
            if (pass == late)
                for (int t = 0; t < TAGS; t++)
                    for (int i = 0; i < PER_TAG; i++)
                        MPI_Irecv(&in[t][i], 1, MPI_INT, from, tag_of(t), comm, &receives[t * PER_TAG + i]);
            else
                for (int i = 0; i < PER_TAG; i++)
                    for (int t = TAGS - 1; t >= 0; t--) {
                        out[t][i] = value_of(t, i);
                        MPI_Isend(&out[t][i], 1, MPI_INT, to, tag_of(t), comm, &sends[t * PER_TAG + i]);
                    }
            MPI_Barrier(comm);
        }
        MPI_Waitall(TAGS * PER_TAG, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(TAGS * PER_TAG, sends, MPI_STATUSES_IGNORE);
        for (int t = 0; t < TAGS; t++)
            for (int i = 0; i < PER_TAG; i++)
                CHECK_EQUAL(in[t][i], value_of(t, i), "MPI-5.0 §3.5: in order");
    }
}

static void other_forms(MPI_Comm comm)
{
    static unsigned char out[LONG], in[LONG];
    int flag = 0, got = 0, cancelled = 0, ones[2] = { 5, 6 };
    MPI_Message message;
    MPI_Status status;
    MPI_Request request, persistent[2];
    fill_pattern(out, LONG, 3);
    MPI_Issend(out, LONG, MPI_BYTE, to, 11, comm, &request);
    while (!flag)
        MPI_Iprobe(from, 11, comm, &flag, &status);
    MPI_Improbe(from, 12, comm, &flag, &message, &status);
    CHECK(!flag, "MPI-5.0 §3.8.2: nothing has this tag");
    MPI_Mprobe(from, 11, comm, &message, &status);
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == 11 && status_count(&status, MPI_BYTE) == LONG, "MPI-5.0 §3.8.2");
    MPI_Mrecv(in, LONG, MPI_BYTE, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(has_pattern(in, LONG, 3), "MPI-5.0 §3.8.3");
    MPI_Irecv(&got, 1, MPI_INT, from, 13, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "MPI-5.0 §3.8.4");
    MPI_Barrier(comm);
    MPI_Sendrecv(&ones[0], 1, MPI_INT, to, 13, &got, 1, MPI_INT, from, 13, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 5, "MPI-5.0 §3.10");
    MPI_Send_init(&ones[1], 1, MPI_INT, to, 14, comm, &persistent[0]);
    MPI_Recv_init(&got, 1, MPI_INT, from, 14, comm, &persistent[1]);
    for (int i = 0; i < 3; i++, ones[1]++) {
        MPI_Startall(2, persistent);
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
        CHECK_EQUAL(got, ones[1], "MPI-5.0 §3.9");
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
}

/* A wildcard that was promised not to be used is an error, of a receive and of a probe; another one meets its message. */
static void wildcards(MPI_Comm comm, int no_tag, int no_source)
{
    int out = 9, in = 0, flag;
    MPI_Errhandler before;
    MPI_Status status;
    MPI_Request request;
    MPI_Comm_get_errhandler(comm, &before);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Isend(&out, 1, MPI_INT, to, 21, comm, &request);
    if (no_tag) {
        CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, from, MPI_ANY_TAG, comm, &status), MPI_ERR_TAG, "MPI-5.0 §7.4.4");
        CHECK_CLASS(MPI_Iprobe(from, MPI_ANY_TAG, comm, &flag, &status), MPI_ERR_TAG, "MPI-5.0 §7.4.4");
    }
    if (no_source) {
        CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 21, comm, &status), MPI_ERR_RANK, "MPI-5.0 §7.4.4");
        CHECK_CLASS(MPI_Probe(MPI_ANY_SOURCE, 21, comm, &status), MPI_ERR_RANK, "MPI-5.0 §7.4.4");
    }
    CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, &status), MPI_SUCCESS, "MPI-5.0 §3.11");
    MPI_Recv(&in, 1, MPI_INT, no_source ? from : MPI_ANY_SOURCE, no_tag ? 21 : MPI_ANY_TAG, comm, &status);
    CHECK(in == 9 && status.MPI_TAG == 21 && status.MPI_SOURCE == from, "MPI-5.0 §3.2.4");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(comm, before);
    MPI_Errhandler_free(&before);
}

static void try_comm(MPI_Comm comm, int no_tag, int no_source)
{
    find_partners(comm);
    CHECK(is_in_force(comm, 0) == no_tag && is_in_force(comm, 1) == no_source, "MPI-5.0 §7.4.4");
    exchange(comm);
    other_forms(comm);
    wildcards(comm, no_tag, no_source);
}

/* Later words about what the messages' ways depend on: what Comm_get_info then tells is what counts. */
static void take_back(MPI_Comm comm)
{
    set(comm, 0, 0);
    wildcards(comm, is_in_force(comm, 0), is_in_force(comm, 1));
    exchange(comm);
}

static void intra(MPI_Info info, int no_tag, int no_source)
{
    MPI_Comm comm, copy;
    MPI_Group group;
    MPI_Request request;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    try_comm(comm, no_tag, no_source);
    MPI_Comm_dup(comm, &copy);
    try_comm(copy, 0, 0);
    MPI_Comm_free(&copy);
    take_back(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    try_comm(comm, no_tag, no_source);
    MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_from_group(group, "org.weft.no_wildcards", info, MPI_ERRORS_ARE_FATAL, &comm);
    try_comm(comm, no_tag, no_source);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

/* Between the processes of even and of odd rank, as many of both. */
static void inter(MPI_Info info, int no_tag, int no_source)
{
    int pairs = size_of_world / 2, is_odd = rank_of_world % 2;
    int is_in = rank_of_world < 2 * pairs;
    MPI_Comm half, between, copy;
    MPI_Group world, groups[2];
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, is_in ? is_odd : MPI_UNDEFINED, 0, &half);
    if (!is_in)
        return;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !is_odd, 3, &between);
    try_comm(between, 0, 0);
    MPI_Comm_dup_with_info(between, info, &copy);
    try_comm(copy, no_tag, no_source);
    MPI_Comm_free(&copy);
    MPI_Comm_idup_with_info(between, info, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    try_comm(copy, no_tag, no_source);
    MPI_Comm_free(&copy);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int odd = 0; odd < 2; odd++)
        MPI_Group_range_incl(world, 1, (int[1][3]){ { odd, 2 * (pairs - 1) + odd, 2 } }, &groups[odd]);
    MPI_Intercomm_create_from_groups(groups[is_odd], 0, groups[!is_odd], 0, "org.weft.between", info, MPI_ERRORS_ARE_FATAL,
                                     &copy);
    try_comm(copy, no_tag, no_source);
    MPI_Comm_free(&copy);
    MPI_Group_free(&groups[0]);
    MPI_Group_free(&groups[1]);
    MPI_Group_free(&world);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Rank 0 alone promises: the others may use wildcards, and its messages find theirs. */
static void one_promises(void)
{
    MPI_Comm comm;
    int promises = rank_of_world == 0;
    MPI_Info info = promise(promises, promises);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    try_comm(comm, promises, promises);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

/* Set while messages are under way, taken back later. */
static void set_later(void)
{
    int out = 4, in = 0;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    find_partners(comm);
    MPI_Isend(&out, 1, MPI_INT, to, 77, comm, &request);
    set(comm, 1, 1);
    MPI_Recv(&in, 1, MPI_INT, from, 77, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 4, "MPI-5.0 §7.4.4: a message sent before it");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    try_comm(comm, 1, 1);
    take_back(comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "no_wildcards");
    for (int promises = 0; promises < 4; promises++) {
        MPI_Info info = promise(promises & 1, promises >> 1);
        intra(info, promises & 1, promises >> 1);
        inter(info, promises & 1, promises >> 1);
        MPI_Info_free(&info);
    }
    one_promises();
    set_later();
    return check_finish();
}
