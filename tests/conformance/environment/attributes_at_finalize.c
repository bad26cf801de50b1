/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the last one set first, while MPI still works:
 * MPI-5.0 §11.2.4. */
#include "check.h"

static int left = 3;

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int finalized = -1, size = -1, sum = 0, one = 1;
    (void)key, (void)extra;
    CHECK_EQUAL((int)(intptr_t)value, left, "MPI-5.0 §11.2.4: in reverse order");
    MPI_Finalized(&finalized);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(comm == MPI_COMM_SELF && !finalized && sum == size, "MPI-5.0 §11.2.4");
    if (--left == 0)
        check_report();
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "attributes_at_finalize");
    for (intptr_t i = 1; i <= 3; i++) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)i);
        MPI_Comm_free_keyval(&key);
    }
    MPI_Finalize();
    return left;
}
