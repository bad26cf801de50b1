/* Wrong arguments of inter-communicator calls: MPI-5.0 §7.6. Wrong on every rank of a group alike. */
#include "expect.h"

static void not_inter(void)
{
    int size;
    MPI_Group group;
    MPI_Comm comm;
    EXPECT(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &size));
    EXPECT(MPI_ERR_COMM, MPI_Comm_remote_group(MPI_COMM_WORLD, &group));
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_NULL, &size));
    EXPECT(MPI_ERR_COMM, MPI_Comm_remote_group(MPI_COMM_NULL, &group));
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_NULL, 0, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Comm_test_inter(MPI_COMM_NULL, &size));
    EXPECT(MPI_ERR_ARG, MPI_Comm_test_inter(MPI_COMM_WORLD, NULL));
}

static void creation(void)
{
    MPI_Comm comm, self = MPI_COMM_SELF, world = MPI_COMM_WORLD;
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_create(MPI_COMM_NULL, 0, world, 0, 1, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Intercomm_create(self, 1, world, 0, 1, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Intercomm_create(self, MPI_ANY_SOURCE, world, 0, 1, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Intercomm_create(self, 0, world, size_of_world, 1, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Intercomm_create(self, 0, world, MPI_ANY_SOURCE, 1, &comm));
    EXPECT(MPI_ERR_RANK, MPI_Intercomm_create(self, 0, world, MPI_PROC_NULL, 1, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_create(self, 0, MPI_COMM_NULL, 0, 1, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_create(self, 0, (MPI_Comm)MPI_INT, 0, 1, &comm));
    EXPECT(MPI_ERR_TAG, MPI_Intercomm_create(self, 0, world, 0, -1, &comm));
    EXPECT(MPI_ERR_TAG, MPI_Intercomm_create(self, 0, world, 0, MPI_ANY_TAG, &comm));
    /* The leader's mistake reaches its group: nobody is left waiting. */
    EXPECT(ANY_ERROR, MPI_Intercomm_create(world, 0, world, size_of_world, 1, &comm));
    /* A group and itself have processes in common. */
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_create(self, 0, world, rank_of_world, 1, &comm));
}

static void on_an_intercommunicator(void)
{
    MPI_Comm local, inter, comm;
    MPI_Group world;
    int remote, value = 0, side = rank_of_world % 2;
    if (size_of_world < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !side, 1, &inter);
    MPI_Comm_remote_size(inter, &remote);
    EXPECT(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, remote, 0, inter));
    EXPECT(MPI_ERR_RANK, MPI_Recv(&value, 1, MPI_INT, remote, 0, inter, MPI_STATUS_IGNORE));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    EXPECT(MPI_ERR_COMM, MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &comm));
    EXPECT(MPI_ERR_GROUP, MPI_Comm_create(inter, world, &comm));
    EXPECT(MPI_ERR_COMM, MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &comm));
    /* The processes of a group do not agree on `high`; neither group gets a communicator. */
    if (size_of_world > 2)
        EXPECT(MPI_ERR_ARG, MPI_Intercomm_merge(inter, rank_of_world / 2 % 2, &comm));
    MPI_Group_free(&world);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "intercomm_arguments");
    not_inter();
    creation();
    on_an_intercommunicator();
    return expect_finish();
}
