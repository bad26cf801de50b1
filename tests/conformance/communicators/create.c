/* MPI_Comm_create over all ranks, also with disjoint groups; MPI_Comm_create_group over the members only. */
#include "check.h"

static MPI_Group subset(int first, int stride)
{
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int range[1][3] = { { first, stride > 0 ? size_of_world - 1 : 0, stride } };
    MPI_Group_range_incl(world, 1, range, &group);
    MPI_Group_free(&world);
    return group;
}

/* The communicator has the group's order and works. */
static void works(MPI_Comm comm, MPI_Group group)
{
    int rank = -1, size = -1, group_rank = -2, group_size = -2, sum = -1, one = 1, result = -1;
    MPI_Group of_comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Group_rank(group, &group_rank);
    MPI_Group_size(group, &group_size);
    CHECK(rank == group_rank && size == group_size, "MPI-5.0 §7.4.2");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size, "MPI-5.0 §7.4.2");
    MPI_Comm_group(comm, &of_comm);
    MPI_Group_compare(of_comm, group, &result);
    CHECK_EQUAL(result, MPI_IDENT, "MPI-5.0 §7.4.2");
    MPI_Group_free(&of_comm);
}

static void one_group(int first, int stride)
{
    MPI_Group group = subset(first, stride);
    MPI_Comm comm;
    int member = -1;
    MPI_Group_rank(group, &member);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    CHECK((comm == MPI_COMM_NULL) == (member == MPI_UNDEFINED), "MPI-5.0 §7.4.2");
    if (comm != MPI_COMM_NULL) {
        works(comm, group);
        MPI_Comm_free(&comm);
    }
    if (member != MPI_UNDEFINED) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
        works(comm, group);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void disjoint_groups(void)
{
    if (size_of_world < 2)
        return;
    MPI_Group group = subset(rank_of_world % 2, 2);
    MPI_Comm comm;
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    CHECK(comm != MPI_COMM_NULL, "MPI-5.0 §7.4.2: each rank names its own group");
    works(comm, group);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static void empty_group(void)
{
    MPI_Comm comm;
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
    CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.2");
    MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 1, &comm);
    CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.2");
}

/* The two halves create at the same time with different tags, then all together, while a point-to-point
 * message of the same tag is under way. */
static void create_group_beside_traffic(void)
{
    int value = 5, got = -1;
    MPI_Request send;
    MPI_Isend(&value, 1, MPI_INT, right_neighbour(), 3, MPI_COMM_WORLD, &send);
    MPI_Group all = subset(0, 1), half = subset(rank_of_world % 2, 2);
    MPI_Comm first, second;
    MPI_Comm_create_group(MPI_COMM_WORLD, half, 3 + rank_of_world % 2, &first);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &second);
    works(first, half);
    works(second, all);
    MPI_Recv(&got, 1, MPI_INT, left_neighbour(), MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 5, "MPI-5.0 §7.4.2: tags of create_group are apart from point-to-point");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Group_free(&all);
    MPI_Group_free(&half);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "create");
    one_group(0, 1);
    one_group(size_of_world - 1, -1);
    one_group(0, 2);
    one_group(size_of_world - 1, -2);
    one_group(size_of_world / 2, 1);
    disjoint_groups();
    empty_group();
    create_group_beside_traffic();
    return check_finish();
}
