/* Values that no library hands out as requests, in the range of predefined handles: MPI-5.0 §20.3 keeps it
 * free of user handles, so they can be told apart without a look at memory.
 *
 * MPICH 5.0.2 crashes on all but a few.
 * ranks: 1,2 */
#include "expect.h"

static int flag, index_, count;
static int indices[4];
static MPI_Status status, statuses[4];

static void garbage(void)
{
    const uintptr_t values[] = { 0, 0x101, 0x181, 0x209, 0xfff };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Request request = (MPI_Request)values[i], list[2] = { MPI_REQUEST_NULL, request };
        EXPECT(MPI_ERR_REQUEST, MPI_Wait(&request, &status));
        EXPECT(MPI_ERR_REQUEST, MPI_Test(&request, &flag, &status));
        EXPECT(MPI_ERR_REQUEST, MPI_Request_get_status(request, &flag, &status));
        EXPECT(MPI_ERR_REQUEST, MPI_Waitany(2, list, &index_, &status));
        EXPECT(MPI_ERR_REQUEST, MPI_Testany(2, list, &index_, &flag, &status));
        EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_IN_STATUS, MPI_Waitall(2, list, statuses));
        EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_IN_STATUS, MPI_Testall(2, list, &flag, statuses));
        EXPECT_EITHER(MPI_ERR_REQUEST, MPI_ERR_IN_STATUS, MPI_Waitsome(2, list, &count, indices, statuses));
        EXPECT(MPI_ERR_REQUEST, MPI_Start(&request));
        EXPECT(MPI_ERR_REQUEST, MPI_Cancel(&request));
        EXPECT(MPI_ERR_REQUEST, MPI_Request_free(&request));
    }
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "request_handles");
    garbage();
    return expect_finish();
}
