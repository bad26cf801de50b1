/* Wrong arguments of packing and unpacking: MPI-5.0 §5.2, §5.3. All are local.
 * MPICH 5.0.2 writes behind a buffer that is too small, and fails on what it reads behind one.
 *
 * ranks: 1 */
#include "expect.h"

static int data[8], position;
static unsigned char buffer[64];
static MPI_Aint place;

static void packing(void)
{
    MPI_Datatype loose;
    int size;
    MPI_Type_contiguous(2, MPI_INT, &loose);
    EXPECT(MPI_ERR_COMM, MPI_Pack(data, 1, MPI_INT, buffer, 64, &position, MPI_COMM_NULL));
    EXPECT(MPI_ERR_COUNT, MPI_Pack(data, -1, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_TYPE, MPI_Pack(data, 1, MPI_DATATYPE_NULL, buffer, 64, &position, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_TYPE, MPI_Pack(data, 1, loose, buffer, 64, &position, MPI_COMM_WORLD));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, MPI_Pack(data, 8, MPI_INT, buffer, 31, &position, MPI_COMM_WORLD));
    EXPECT_EITHER(MPI_ERR_BUFFER, MPI_ERR_ARG, MPI_Pack(NULL, 1, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_ARG, MPI_Pack(data, 1, MPI_INT, buffer, 64, NULL, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &size));
    EXPECT(MPI_ERR_TYPE, MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_WORLD, &size));
    EXPECT(MPI_ERR_COMM, MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &size));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&loose));
}

static void unpacking(void)
{
    EXPECT(MPI_ERR_COMM, MPI_Unpack(buffer, 64, &position, data, 1, MPI_INT, MPI_COMM_NULL));
    EXPECT(MPI_ERR_COUNT, MPI_Unpack(buffer, 64, &position, data, -1, MPI_INT, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_TYPE, MPI_Unpack(buffer, 64, &position, data, 1, MPI_DATATYPE_NULL, MPI_COMM_WORLD));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, MPI_Unpack(buffer, 7, &position, data, 2, MPI_INT, MPI_COMM_WORLD));
    position = 60;
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, MPI_Unpack(buffer, 64, &position, data, 2, MPI_INT, MPI_COMM_WORLD));
    position = -1;
    EXPECT(MPI_ERR_ARG, MPI_Unpack(buffer, 64, &position, data, 1, MPI_INT, MPI_COMM_WORLD));
    position = 0;
}

static void external(void)
{
    EXPECT(MPI_ERR_ARG, MPI_Pack_external("native", data, 1, MPI_INT, buffer, 64, &place));
    EXPECT(MPI_ERR_ARG, MPI_Pack_external_size("external64", 1, MPI_INT, &place));
    EXPECT(MPI_ERR_ARG, MPI_Unpack_external("", buffer, 64, &place, data, 1, MPI_INT));
    place = 0;
    EXPECT(MPI_ERR_COUNT, MPI_Pack_external("external32", data, -1, MPI_INT, buffer, 64, &place));
    EXPECT(MPI_ERR_TYPE, MPI_Pack_external("external32", data, 1, MPI_DATATYPE_NULL, buffer, 64, &place));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE,
                  MPI_Pack_external("external32", data, 8, MPI_INT, buffer, 31, &place));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE,
                  MPI_Unpack_external("external32", buffer, 7, &place, data, 2, MPI_INT));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "pack_arguments");
    packing();
    unpacking();
    external();
    return expect_finish();
}
