/* Types of more than 2^31 elements and bytes: sizes, bounds, counts; and messages of some of them where they leave
 * most of their extent alone: MPI-5.0 §5.1, §5.1.11. */
#include "check.h"
#include <sys/mman.h>

static void sizes(void)
{
    const MPI_Count many = (MPI_Count)5 << 30;
    MPI_Datatype type, nested;
    int size = 0;
    MPI_Count large = -1, lower = -1, extent = -1;
    MPI_Aint lb, ex;
    MPI_Type_contiguous_c(many, MPI_DOUBLE, &type);
    MPI_Type_size(type, &size);
    CHECK_EQUAL(size, MPI_UNDEFINED, "MPI-5.0 §5.1.5: does not fit");
    MPI_Type_size_c(type, &large);
    CHECK_EQUAL(large, 8 * many, "MPI-5.0 §5.1.5");
    MPI_Type_size_x(type, &large);
    CHECK_EQUAL(large, 8 * many, "MPI-5.0 §16.1");
    MPI_Type_get_extent(type, &lb, &ex);
    CHECK(lb == 0 && ex == 8 * many, "MPI-5.0 §5.1.7");
    MPI_Type_vector_c(1000, many, 2 * many, MPI_INT, &nested);
    MPI_Type_size_c(nested, &large);
    MPI_Type_get_extent_c(nested, &lower, &extent);
    CHECK(large == 4000 * many && lower == 0 && extent == 4 * (999 * 2 * many + many), "MPI-5.0 §5.1.7");
    MPI_Type_free(&type);
    MPI_Type_free(&nested);
    /* By int arguments, too. */
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &type);
    MPI_Type_contiguous(1 << 10, type, &nested);
    MPI_Type_size_c(nested, &large);
    CHECK_EQUAL(large, (MPI_Count)1 << 43, "MPI-5.0 §5.1.5");
    MPI_Type_free(&type);
    MPI_Type_free(&nested);
}

/* A message of 64 doubles whose places span 6 GiB. */
static void far_apart(void)
{
    const size_t bytes = (size_t)6 << 30;
    const MPI_Count stride = (MPI_Count)(bytes / 64);
    char *space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Count places[64];
    MPI_Datatype strided, listed;
    double got[64];
    if (space == MAP_FAILED)
        return;
    for (int i = 0; i < 64; i++)
        places[i] = (63 - i) * stride + 16 * (i % 3);
    MPI_Type_create_hvector_c(64, 1, stride, MPI_DOUBLE, &strided);
    MPI_Type_create_hindexed_block_c(64, 1, places, MPI_DOUBLE, &listed);
    MPI_Type_commit(&strided);
    MPI_Type_commit(&listed);
    for (int i = 0; i < 64; i++)
        *(double *)(space + i * stride) = i + 0.25;
    MPI_Sendrecv(space, 1, strided, right_neighbour(), 0, got, 64, MPI_DOUBLE, left_neighbour(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == i + 0.25, "MPI-5.0 §5.1.11");
    MPI_Sendrecv(got, 64, MPI_DOUBLE, right_neighbour(), 0, space, 1, listed, left_neighbour(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++)
        CHECK(*(double *)(space + places[i]) == i + 0.25, "MPI-5.0 §5.1.11");
    MPI_Type_free(&strided);
    MPI_Type_free(&listed);
    munmap(space, bytes);
}

/* More than 2^31 elements in one count, of a type that takes no room. */
static void many_elements(void)
{
    const MPI_Count many = ((MPI_Count)1 << 31) + 5;
    MPI_Datatype nothing;
    MPI_Status status;
    MPI_Count size = -1;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Request request;
    MPI_Isend_c(NULL, many, nothing, right_neighbour(), 0, MPI_COMM_WORLD, &request);
    MPI_Recv_c(NULL, many, nothing, left_neighbour(), 0, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Pack_size_c(many, MPI_DOUBLE, MPI_COMM_WORLD, &size);
    CHECK(size >= 8 * many, "MPI-5.0 §5.2");
    MPI_Pack_external_size_c("external32", many, MPI_DOUBLE, &size);
    CHECK_EQUAL(size, 8 * many, "MPI-5.0 §5.3");
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "large_types");
    sizes();
    far_apart();
    many_elements();
    return check_finish();
}
