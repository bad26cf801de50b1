/* Wrong arguments of environment and buffer calls: MPI-5.0 §3.6, §9, §11.2.
 *
 * MPICH 5.0.2 fails: codes that it never returned have a class and a text.
 * ranks: 1,2 */
#include "expect.h"

/* A length that no int holds: it is told by the large-count form alone, and the other one detaches nothing. Nothing is sent, so the
 * memory need not be there. */
static void past_an_int(char *buffer)
{
    void *detached = NULL;
    int size = 0;
    MPI_Count large_size = 0, large = (MPI_Count)1 << 32;
    EXPECT(MPI_SUCCESS, MPI_Buffer_attach_c(buffer, large));
    EXPECT(MPI_ERR_VALUE_TOO_LARGE, MPI_Buffer_detach(&detached, &size));
    EXPECT(MPI_SUCCESS, MPI_Buffer_detach_c(&detached, &large_size));
    CHECK(detached == buffer && large_size == large, "MPI-5.0 §3.6: what failed has detached nothing");
}

int main(int argc, char **argv)
{
    static char buffer[4096], text[MPI_MAX_ERROR_STRING];
    int value = 0, length = 0, provided = 0, size = 0;
    MPI_Count large_size = 0;
    void *detached = NULL;
    expect_start(&argc, &argv, "environment_arguments");
    EXPECT(ANY_ERROR, MPI_Error_class(-1, &value));
    EXPECT(ANY_ERROR, MPI_Error_class(MPI_ERR_LASTCODE + 1000000, &value));
    EXPECT(ANY_ERROR, MPI_Error_class(MPI_ERR_TAG, NULL));
    EXPECT(ANY_ERROR, MPI_Error_string(-1, text, &length));
    EXPECT(ANY_ERROR, MPI_Error_string(MPI_ERR_TAG, NULL, &length));
    EXPECT(ANY_ERROR, MPI_Error_string(MPI_ERR_TAG, text, NULL));
    EXPECT(ANY_ERROR, MPI_Init(NULL, NULL));
    EXPECT(ANY_ERROR, MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided));
    EXPECT(MPI_ERR_ARG, MPI_Query_thread(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Is_thread_main(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Get_version(NULL, &value));
    EXPECT(MPI_ERR_ARG, MPI_Get_version(&value, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Get_library_version(NULL, &length));
    EXPECT(MPI_ERR_ARG, MPI_Initialized(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Finalized(NULL));
    EXPECT_COUNTS_EITHER(MPI_ERR_ARG, MPI_ERR_BUFFER, Buffer_attach, buffer, -1);
    EXPECT_COUNTS_EITHER(MPI_ERR_ARG, MPI_ERR_BUFFER, Buffer_attach, NULL, 100);
    EXPECT_COUNTS(MPI_ERR_COMM, Comm_attach_buffer, MPI_COMM_NULL, buffer, sizeof buffer);
    EXPECT_COUNTS_EITHER(MPI_ERR_ARG, MPI_ERR_BUFFER, Comm_attach_buffer, MPI_COMM_WORLD, buffer, -1);
    EXPECT_COUNTS_EITHER(MPI_ERR_ARG, MPI_ERR_BUFFER, Comm_attach_buffer, MPI_COMM_WORLD, NULL, 100);
    EXPECT(MPI_ERR_COMM, MPI_Comm_detach_buffer(MPI_COMM_NULL, &detached, &size));
    EXPECT(MPI_ERR_COMM, MPI_Comm_detach_buffer_c(MPI_COMM_NULL, &detached, &large_size));
    EXPECT(MPI_ERR_COMM, MPI_Comm_flush_buffer(MPI_COMM_NULL));
    EXPECT(MPI_SUCCESS, MPI_Buffer_attach(buffer, sizeof buffer));
    EXPECT_COUNTS(ANY_ERROR, Buffer_attach, buffer, sizeof buffer);
    EXPECT_COUNTS(MPI_ERR_ARG, Buffer_detach, NULL, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Buffer_detach, &detached, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Comm_detach_buffer, MPI_COMM_WORLD, NULL, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Comm_detach_buffer, MPI_COMM_WORLD, &detached, NULL);
    EXPECT(MPI_ERR_ARG, MPI_Get_hw_resource_info(NULL));
    EXPECT(MPI_SUCCESS, MPI_Buffer_detach(&detached, &size));
    past_an_int(buffer);
    CHECK(detached == buffer && size == sizeof buffer, "MPI-5.0 §3.6: the wrong calls changed nothing");
    return expect_finish();
}
