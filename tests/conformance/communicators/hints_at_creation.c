/* Hints given to what makes a communicator are its hints, and hold for its messages: MPI-5.0 §7.4.4; §7.4.2 for each call,
 * §8.5.4 for distributed graphs. */
#include "check.h"
#include "hosts.h"

enum { MESSAGES = 8 };

static MPI_Info info;
/* Not known as what it is to the compiler, which would not have it read. */
static int *volatile unweighted = MPI_UNWEIGHTED;

static const char *value_of(MPI_Comm comm, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    MPI_Info used;
    int flag = 0, length = sizeof value;
    value[0] = 0;
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get_string(used, key, &length, value, &flag);
    MPI_Info_free(&used);
    return value;
}

/* The hints of `info` and no others; a wildcard of tags is an error; messages of many tags arrive in order. */
static void holds(MPI_Comm comm, const char *call)
{
    int rank, size, inter, got = 0;
    MPI_Request requests[2 * MESSAGES];
    int in[MESSAGES], out[MESSAGES];
    CHECK(!strcmp(value_of(comm, "mpi_assert_no_any_tag"), "true"), "MPI-5.0 §7.4.4", "%s", call);
    CHECK(!strcmp(value_of(comm, "mpi_assert_exact_length"), "true"), "MPI-5.0 §7.4.4", "%s", call);
    CHECK(!strcmp(value_of(comm, "mpi_assert_no_any_source"), "false"), "MPI-5.0 §7.4.4", "%s", call);
    CHECK(!*value_of(comm, "org.example.unknown"), "MPI-5.0 §7.4.4: not supported", "%s", call);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Recv(&got, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG, "MPI-5.0 §7.4.4");
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (inter) {
        int remote;
        MPI_Comm_remote_size(comm, &remote);
        size = size < remote ? size : remote;
    }
    int there = inter || size == 1 ? rank : (rank + 1) % size, here = inter || size == 1 ? rank : (rank + size - 1) % size;
    if (rank < size)
        for (int i = 0; i < MESSAGES; i++) {
            out[i] = 100 * rank + i;
            MPI_Irecv(&in[i], 1, MPI_INT, here, i, comm, &requests[i]);
            MPI_Isend(&out[i], 1, MPI_INT, there, i, comm, &requests[MESSAGES + i]);
        }
    if (rank < size)
        MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES && rank < size; i++)
        CHECK_EQUAL(in[i], 100 * here + i, call);
    MPI_Comm_free(&comm);
}

/* Whether a process of the other half of the world is on this host. */
static int has_other_side_here(void)
{
    int *first = first_sharing(), found = 0;
    for (int rank = 0; rank < size_of_world; rank++)
        found |= rank % 2 != rank_of_world % 2 && first[rank] == first[rank_of_world];
    free(first);
    return found;
}

static void of_inter(MPI_Comm half)
{
    MPI_Comm inter, made;
    MPI_Group all, own, other;
    MPI_Request request;
    int side = rank_of_world % 2;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter);
    MPI_Comm_dup_with_info(inter, info, &made);
    holds(made, "MPI_Comm_dup_with_info, inter");
    MPI_Comm_idup_with_info(inter, info, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    holds(made, "MPI_Comm_idup_with_info, inter");
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, info, &made);
    int is_between = has_other_side_here();
    CHECK((made != MPI_COMM_NULL) == is_between, "MPI-5.0 §7.4.2: both sides have processes");
    if (is_between)
        holds(made, "MPI_Comm_split_type, inter");
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(half, &own);
    MPI_Group_difference(all, own, &other);
    MPI_Intercomm_create_from_groups(own, 0, other, 0, "org.weft.hints", info, MPI_ERRORS_RETURN, &made);
    holds(made, "MPI_Intercomm_create_from_groups");
    MPI_Group_free(&all);
    MPI_Group_free(&own);
    MPI_Group_free(&other);
    MPI_Comm_free(&inter);
}

int main(int argc, char **argv)
{
    MPI_Comm made, half;
    MPI_Group group;
    MPI_Request request;
    check_start(&argc, &argv, "hints_at_creation");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "perhaps");
    MPI_Info_set(info, "org.example.unknown", "true");

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
    holds(made, "MPI_Comm_dup_with_info");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    holds(made, "MPI_Comm_idup_with_info");
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_from_group(group, "org.weft.hints", info, MPI_ERRORS_RETURN, &made);
    holds(made, "MPI_Comm_create_from_group");
    MPI_Group_free(&group);

    /* Who is in no part has no say in what the others' hints are. */
    int out = size_of_world > 2 && rank_of_world == 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, out ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, out ? MPI_INFO_NULL : info, &made);
    CHECK_EQUAL(made == MPI_COMM_NULL, out, "MPI-5.0 §7.4.2");
    if (!out)
        holds(made, "MPI_Comm_split_type");

    int next = (rank_of_world + 1) % size_of_world, before = (rank_of_world + size_of_world - 1) % size_of_world, one = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, unweighted, 1, &next, unweighted, info, 0, &made);
    holds(made, "MPI_Dist_graph_create_adjacent");
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank_of_world, &one, &next, unweighted, info, 0, &made);
    holds(made, "MPI_Dist_graph_create");

    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world % 2, 0, &half);
    CHECK(!strcmp(value_of(half, "mpi_assert_exact_length"), "false"), "MPI-5.0 §7.4.2: a split without info");
    if (size_of_world > 1)
        of_inter(half);
    MPI_Comm_free(&half);
    MPI_Info_free(&info);
    return check_finish();
}
