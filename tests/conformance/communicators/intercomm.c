/* Inter-communicators: making, asking, messages, duplicates, parts, merging: MPI-5.0 §7.6, §7.4.2. Even ranks of the
 * world are one group, in reverse order; odd ranks are the other. */
#include "check.h"

enum { MOST = 64 };

static int side;    /* 0 for even ranks of the world */
static int own[MOST], other[MOST], own_size, other_size; /* ranks in the world, in the order of each group */
static MPI_Comm local;

static void list_sides(void)
{
    int *lists[2] = { side ? other : own, side ? own : other };
    int *sizes[2] = { side ? &other_size : &own_size, side ? &own_size : &other_size };
    for (int r = size_of_world - 1; r >= 0; r--)
        if (r % 2 == 0)
            lists[0][(*sizes[0])++] = r;
    for (int r = 1; r < size_of_world; r += 2)
        lists[1][(*sizes[1])++] = r;
}

static int is_on_one_host;

static void find_hosts(void)
{
    MPI_Comm host;
    int size = -1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    is_on_one_host = size == size_of_world;
    MPI_Comm_free(&host);
}

static void group_is(MPI_Group group, const int *ranks, int size, const char *clause)
{
    MPI_Group world, expected;
    int result = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, size, ranks, &expected);
    MPI_Group_compare(group, expected, &result);
    CHECK_EQUAL(result, MPI_IDENT, clause);
    MPI_Group_free(&world);
    MPI_Group_free(&expected);
}

/* The communicator's groups are these, and every pair of processes exchanges messages, also by wildcard. */
static void connects(MPI_Comm inter, const int *mine, int my_size, const int *theirs, int their_size)
{
    int flag = -1, size = -1, rank = -1, remote = -1, expected_rank = -1;
    MPI_Group group;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag == 1, "MPI-5.0 §7.6.1");
    MPI_Comm_size(inter, &size);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    for (int r = 0; r < my_size; r++)
        if (mine[r] == rank_of_world)
            expected_rank = r;
    CHECK(size == my_size && rank == expected_rank && remote == their_size, "MPI-5.0 §7.6.1", "%d of %d, %d", rank,
          size, remote);
    MPI_Comm_group(inter, &group);
    group_is(group, mine, my_size, "MPI-5.0 §7.6.1: MPI_Comm_group is of the local group");
    MPI_Group_free(&group);
    MPI_Comm_remote_group(inter, &group);
    group_is(group, theirs, their_size, "MPI-5.0 §7.6.1");
    MPI_Group_free(&group);

    MPI_Request sends[MOST];
    MPI_Status status;
    int seen[MOST] = { 0 }, got = -1;
    for (int r = 0; r < their_size; r++)
        MPI_Isend(&rank_of_world, 1, MPI_INT, r, 5, inter, &sends[r]);
    for (int n = 0; n < their_size; n++) {
        MPI_Probe(MPI_ANY_SOURCE, 5, inter, &status);
        int from = status.MPI_SOURCE;
        CHECK(from >= 0 && from < their_size && !seen[from]++, "MPI-5.0 §7.6: a rank of the remote group");
        MPI_Recv(&got, 1, MPI_INT, n % 2 ? MPI_ANY_SOURCE : from, 5, inter, &status);
        if (n % 2 == 0)
            CHECK_EQUAL(status.MPI_SOURCE, from, "MPI-5.0 §3.8.1");
        CHECK_EQUAL(got, theirs[status.MPI_SOURCE], "MPI-5.0 §7.6");
        seen[status.MPI_SOURCE] = 1;
    }
    MPI_Waitall(their_size, sends, MPI_STATUSES_IGNORE);
    MPI_Request receive;
    for (int r = 0; r < their_size; r++) {
        got = -1;
        MPI_Irecv(&got, 1, MPI_INT, r, 6, inter, &receive);
        MPI_Sendrecv(&rank_of_world, 1, MPI_INT, MPI_PROC_NULL, 6, &flag, 1, MPI_INT, MPI_PROC_NULL, 6, inter, &status);
        for (int s = 0; s < their_size && r == 0; s++)
            MPI_Isend(&rank_of_world, 1, MPI_INT, s, 6, inter, &sends[s]);
        MPI_Wait(&receive, &status);
        CHECK(got == theirs[r] && status.MPI_SOURCE == r, "MPI-5.0 §7.6");
    }
    MPI_Waitall(their_size, sends, MPI_STATUSES_IGNORE);
}

/* A message between the groups and one within the local group do not meet, whatever their ranks and tags. */
static void apart_from_local(MPI_Comm inter)
{
    int rank, out = 1000 + rank_of_world, got[2] = { -1, -1 };
    MPI_Request requests[4];
    MPI_Comm_rank(inter, &rank);
    int partner = rank < other_size ? rank : MPI_PROC_NULL;
    MPI_Irecv(&got[0], 1, MPI_INT, partner, 1, inter, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, rank, 1, local, &requests[1]);
    MPI_Isend(&rank_of_world, 1, MPI_INT, rank, 1, local, &requests[2]);
    MPI_Isend(&out, 1, MPI_INT, partner, 1, inter, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (partner != MPI_PROC_NULL)
        CHECK_EQUAL(got[0], 1000 + other[rank], "MPI-5.0 §7.6");
    CHECK_EQUAL(got[1], rank_of_world, "MPI-5.0 §7.6");
}

static void compared(MPI_Comm a, MPI_Comm b, int expected)
{
    int result = -1;
    MPI_Comm_compare(a, b, &result);
    CHECK_EQUAL(result, expected, "MPI-5.0 §7.4.1");
    MPI_Comm_compare(b, a, &result);
    CHECK_EQUAL(result, expected, "MPI-5.0 §7.4.1");
}

static void merged(MPI_Comm inter, int high, const int *order)
{
    MPI_Comm all;
    MPI_Group group;
    int flag = -1, sum = -1;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_test_inter(all, &flag);
    CHECK(flag == 0, "MPI-5.0 §7.6.2");
    MPI_Comm_group(all, &group);
    if (order)
        group_is(group, order, size_of_world, "MPI-5.0 §7.6.2: the low group's processes come first");
    MPI_Group_free(&group);
    MPI_Allreduce(&rank_of_world, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQUAL(sum, size_of_world * (size_of_world - 1) / 2, "MPI-5.0 §7.6.2");
    compared(all, inter, MPI_UNEQUAL);
    MPI_Comm_free(&all);
}

static void merge_orders(MPI_Comm inter)
{
    int even_first[MOST], odd_first[MOST];
    const int *evens = side ? other : own, *odds = side ? own : other;
    int even_size = side ? other_size : own_size, odd_size = side ? own_size : other_size;
    memcpy(even_first, evens, even_size * sizeof(int));
    memcpy(even_first + even_size, odds, odd_size * sizeof(int));
    memcpy(odd_first, odds, odd_size * sizeof(int));
    memcpy(odd_first + odd_size, evens, even_size * sizeof(int));
    merged(inter, side, even_first);
    merged(inter, side ? 0 : 17, odd_first);
    merged(inter, 0, NULL);
    merged(inter, 1, NULL);
}

static int deleted;
static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void duplicate(MPI_Comm inter)
{
    MPI_Comm twin;
    MPI_Errhandler handler;
    int key, flag = 0;
    void *value = NULL;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &key, NULL);
    MPI_Comm_set_attr(inter, key, &deleted);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_dup(inter, &twin);
    MPI_Comm_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == &deleted, "MPI-5.0 §7.4.2");
    MPI_Comm_get_errhandler(twin, &handler);
    CHECK(handler == MPI_ERRORS_RETURN, "MPI-5.0 §9.3");
    connects(twin, own, own_size, other, other_size);
    compared(twin, inter, MPI_CONGRUENT);
    compared(twin, twin, MPI_IDENT);
    compared(twin, MPI_COMM_WORLD, MPI_UNEQUAL);
    compared(twin, local, MPI_UNEQUAL);
    MPI_Comm_free(&twin);
    CHECK_EQUAL(deleted, 1, "MPI-5.0 §7.4.3");
    MPI_Comm_delete_attr(inter, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL);
}

/* Each side reversed: similar to the whole. Then without its first process: a part. */
static void parts(MPI_Comm inter)
{
    MPI_Comm part;
    int mine[MOST], theirs[MOST], ranks[MOST], rank;
    MPI_Comm_rank(inter, &rank);
    for (int r = 0; r < own_size; r++)
        mine[r] = own[own_size - 1 - r], ranks[r] = own_size - 1 - r;
    for (int r = 0; r < other_size; r++)
        theirs[r] = other[other_size - 1 - r];
    MPI_Comm_split(inter, 3, -rank, &part);
    connects(part, mine, own_size, theirs, other_size);
    compared(part, inter, own_size == 1 && other_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    MPI_Comm_free(&part);

    MPI_Group group, rest;
    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, own_size, ranks, &rest);
    MPI_Comm_create(inter, rest, &part);
    connects(part, mine, own_size, theirs, other_size);
    MPI_Comm_free(&part);
    MPI_Group_free(&rest);
    MPI_Group_excl(group, 1, (int[]){ 0 }, &rest);
    MPI_Comm_create(inter, rest, &part);
    int both = own_size > 1 && other_size > 1;
    CHECK((part != MPI_COMM_NULL) == (both && rank > 0), "MPI-5.0 §7.4.2: a side without processes, or not in its group");
    if (part != MPI_COMM_NULL) {
        connects(part, own + 1, own_size - 1, other + 1, other_size - 1);
        compared(part, inter, MPI_UNEQUAL);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&rest);
    MPI_Group_free(&group);
}

static void colours(MPI_Comm inter)
{
    MPI_Comm part;
    int rank;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_split(inter, side, 0, &part);
    CHECK(part == MPI_COMM_NULL, "MPI-5.0 §7.4.2: a colour of one side only");
    MPI_Comm_split(inter, rank == 0 ? 0 : MPI_UNDEFINED, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (rank != 0), "MPI-5.0 §7.4.2");
    if (part != MPI_COMM_NULL) {
        connects(part, own, 1, other, 1);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split(inter, rank, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (rank >= other_size), "MPI-5.0 §7.4.2");
    if (part != MPI_COMM_NULL) {
        connects(part, own + rank, 1, other + rank, 1);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    if (is_on_one_host) {
        CHECK(part != MPI_COMM_NULL, "MPI-5.0 §7.4.2");
        connects(part, own, own_size, other, other_size);
    }
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
}

/* The leaders are the last of each group, and only they give a peer communicator. */
static void by_other_leaders(void)
{
    MPI_Comm inter, peers;
    int rank, leads;
    MPI_Comm_rank(local, &rank);
    leads = rank == own_size - 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &peers);
    MPI_Intercomm_create(local, own_size - 1, leads ? peers : MPI_COMM_NULL, leads ? other[other_size - 1] : -77, 9,
                         &inter);
    connects(inter, own, own_size, other, other_size);
    MPI_Comm_free(&peers);
    MPI_Comm_free(&inter);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    int flag = -1;
    check_start(&argc, &argv, "intercomm");
    find_hosts();
    side = rank_of_world % 2;
    list_sides();
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    CHECK(flag == 0, "MPI-5.0 §7.6.1");
    if (size_of_world > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, side, side ? rank_of_world : -rank_of_world, &local);
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, other[0], 7, &inter);
        connects(inter, own, own_size, other, other_size);
        apart_from_local(inter);
        duplicate(inter);
        merge_orders(inter);
        parts(inter);
        colours(inter);
        by_other_leaders();
        for (int n = 0; n < 300; n++) {
            MPI_Comm again;
            MPI_Comm_dup(inter, &again);
            MPI_Comm_free(&again);
        }
        MPI_Comm_free(&inter);
        CHECK(inter == MPI_COMM_NULL, "MPI-5.0 §7.4.3");
        MPI_Comm_free(&local);
    }
    return check_finish();
}
