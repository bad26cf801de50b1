/* The predefined attributes of MPI_COMM_WORLD. */
#include "check.h"

static int attribute(int key, int *value)
{
    int *at = NULL, flag = -1;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &at, &flag);
    CHECK(flag == 0 || flag == 1, "MPI-5.0 §7.7.2");
    if (flag)
        *value = *at;
    return flag;
}

/* The largest tag travels, and is reported as it was sent. */
static void largest_tag_travels(int largest)
{
    int value = 7, got = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, left_neighbour(), largest, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, right_neighbour(), largest, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK_EQUAL(status.MPI_TAG, largest, "MPI-5.0 §3.2.5");
    CHECK_EQUAL(got, 7, "MPI-5.0 §3.2.4");
}

int main(int argc, char **argv)
{
    int value = -1;
    check_start(&argc, &argv, "attributes");
    CHECK(attribute(MPI_TAG_UB, &value), "MPI-5.0 §9.1.2: TAG_UB is always set");
    CHECK(value >= 32767, "MPI-5.0 §9.1.2", "TAG_UB is %d", value);
    int largest = value;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_EQUAL(value, largest, "MPI-5.0 §9.1.2: the same value on all processes");
    largest_tag_travels(largest);

    CHECK(attribute(MPI_WTIME_IS_GLOBAL, &value), "MPI-5.0 §9.1.2");
    CHECK(value == 0 || value == 1, "MPI-5.0 §9.1.2");
    CHECK(attribute(MPI_IO, &value), "MPI-5.0 §9.1.2");
    CHECK(value == MPI_ANY_SOURCE || value == MPI_PROC_NULL || (value >= 0 && value < size_of_world),
          "MPI-5.0 §9.1.2");
    if (attribute(MPI_HOST, &value))
        CHECK(value == MPI_PROC_NULL || (value >= 0 && value < size_of_world), "MPI-5.0 §16.1: HOST");
    if (attribute(MPI_UNIVERSE_SIZE, &value))
        CHECK(value >= 1, "MPI-5.0 §11.10.1", "UNIVERSE_SIZE is %d", value);
    if (attribute(MPI_APPNUM, &value))
        CHECK(value >= 0, "MPI-5.0 §11.10.3", "APPNUM is %d", value);
    CHECK(attribute(MPI_LASTUSEDCODE, &value), "MPI-5.0 §9.5");
    CHECK(value >= MPI_ERR_LASTCODE, "MPI-5.0 §9.5");
    return check_finish();
}
