/* Wrong arguments of MPI_Alloc_mem, MPI_Free_mem, MPI_Comm_idup and MPI_Comm_disconnect. */
#include "expect.h"

int main(int argc, char **argv)
{
    char *base, *stale;
    MPI_Info bad = (MPI_Info)(uintptr_t)0x5000;
    MPI_Comm copy, null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Request request;
    volatile MPI_Aint most = PTRDIFF_MAX;
    expect_start(&argc, &argv, "memory_arguments");
    EXPECT(MPI_ERR_ARG, MPI_Alloc_mem(-1, MPI_INFO_NULL, &base));
    EXPECT(MPI_ERR_NO_MEM, MPI_Alloc_mem(most, MPI_INFO_NULL, &base));
    EXPECT(MPI_ERR_INFO, MPI_Alloc_mem(1, bad, &base));
    EXPECT(MPI_ERR_ARG, MPI_Alloc_mem(1, MPI_INFO_NULL, NULL));
    EXPECT(MPI_ERR_BASE, MPI_Free_mem(&base));
    MPI_Alloc_mem(100, MPI_INFO_NULL, &base);
    stale = base;
    EXPECT(MPI_ERR_BASE, MPI_Free_mem(base + 1));
    MPI_Free_mem(base);
    EXPECT(MPI_ERR_BASE, MPI_Free_mem(stale));
    EXPECT(MPI_ERR_COMM, MPI_Comm_idup(MPI_COMM_NULL, &copy, &request));
    EXPECT(MPI_ERR_ARG, MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Comm_idup(MPI_COMM_WORLD, &copy, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Comm_idup_with_info(MPI_COMM_WORLD, bad, &copy, &request));
    EXPECT(MPI_ERR_INFO, MPI_Comm_dup_with_info(MPI_COMM_WORLD, bad, &copy));
    EXPECT(MPI_ERR_INFO, MPI_Comm_set_info(MPI_COMM_WORLD, bad));
    EXPECT(MPI_ERR_INFO, MPI_Comm_set_info(MPI_COMM_WORLD, MPI_INFO_NULL));
    EXPECT(MPI_ERR_COMM, MPI_Comm_get_info(MPI_COMM_NULL, &bad));
    EXPECT(MPI_ERR_COMM, MPI_Comm_disconnect(&null));
    EXPECT(MPI_ERR_COMM, MPI_Comm_disconnect(&world));
    EXPECT(MPI_ERR_ARG, MPI_Comm_disconnect(NULL));
    return expect_finish();
}
