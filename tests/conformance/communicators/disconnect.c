/* MPI_Comm_disconnect: MPI-5.0 §11.10.4. */
#include "check.h"

static int deleted;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, half, inter;
    int key, buffered[4], got = -1, space[64 + MPI_BSEND_OVERHEAD];
    check_start(&argc, &argv, "disconnect");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, &key);
    /* What is in the communicator's buffer is delivered. */
    MPI_Comm_attach_buffer(comm, space, sizeof space);
    buffered[0] = rank_of_world;
    MPI_Bsend(buffered, 1, MPI_INT, right_neighbour(), 1, comm);
    MPI_Recv(&got, 1, MPI_INT, left_neighbour(), 1, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, left_neighbour(), "MPI-5.0 §11.10.4");
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL && deleted == 1, "MPI-5.0 §11.10.4");
    if (size_of_world > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank_of_world % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank_of_world % 2, 1, &inter);
        MPI_Comm_disconnect(&inter);
        CHECK(inter == MPI_COMM_NULL, "MPI-5.0 §11.10.4");
        MPI_Comm_disconnect(&half);
    }
    MPI_Comm_free_keyval(&key);
    return check_finish();
}
