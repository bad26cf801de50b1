/* Memory from the library: MPI-5.0 §9.2. */
#include "check.h"

enum { BLOCKS = 50 };

int main(int argc, char **argv)
{
    unsigned char *blocks[BLOCKS], *aligned, *empty = NULL;
    MPI_Info info;
    check_start(&argc, &argv, "alloc_mem");
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_EQUAL(MPI_Alloc_mem(1000 + 100 * i, MPI_INFO_NULL, &blocks[i]), MPI_SUCCESS, "MPI-5.0 §9.2");
        fill_pattern(blocks[i], 1000 + 100 * i, i);
    }
    for (int i = 0; i < BLOCKS; i++)
        CHECK(has_pattern(blocks[i], 1000 + 100 * i, i), "MPI-5.0 §9.2: each its own");
    MPI_Info_create(&info);
    for (int alignment = 1; alignment <= 1 << 16; alignment *= 2) {
        char text[16];
        snprintf(text, sizeof text, "%d", alignment);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
        MPI_Alloc_mem(3, info, &aligned);
        CHECK((uintptr_t)aligned % alignment == 0, "MPI-5.0 §9.2");
        MPI_Free_mem(aligned);
    }
    MPI_Info_free(&info);
    MPI_Sendrecv(blocks[0], 1000, MPI_BYTE, right_neighbour(), 0, blocks[1], 1100, MPI_BYTE, left_neighbour(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(has_pattern(blocks[1], 1000, 0), "MPI-5.0 §9.2");
    CHECK_EQUAL(MPI_Alloc_mem(0, MPI_INFO_NULL, &empty), MPI_SUCCESS, "MPI-5.0 §9.2");
    CHECK_EQUAL(MPI_Free_mem(empty), MPI_SUCCESS, "MPI-5.0 §9.2");
    for (int i = 1; i < BLOCKS; i++)
        CHECK_EQUAL(MPI_Free_mem(blocks[i]), MPI_SUCCESS, "MPI-5.0 §9.2");
    int status = check_finish();
    /* Beyond the standard: what a C++ object holds may be freed by its destructor only then. */
    return MPI_Free_mem(blocks[0]) != MPI_SUCCESS || status;
}
