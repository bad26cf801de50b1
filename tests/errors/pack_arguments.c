/* Wrong arguments of packing and unpacking: MPI-5.0 §5.2, §5.3. All are local.
 * MPICH 5.0.2 writes behind a buffer that is too small, and fails on what it reads behind one.
 *
 * ranks: 1 */
#include "expect.h"

static int data[8], position; /* where the calls start */
static unsigned char buffer[64];
static MPI_Aint place;

/* As MPI_name reports, so does MPI_name_c, whose position, `at`, is an MPI_Count. */
#define EXPECT_BOTH(Position, expected, other, name, ...) \
    do { \
        Position start = position, *at = &start; \
        (void)at; \
        EXPECT_EITHER(expected, other, MPI_##name(__VA_ARGS__)); \
        { \
            MPI_Count start = position, *at = &start; \
            (void)at; \
            EXPECT_EITHER(expected, other, MPI_##name##_c(__VA_ARGS__)); \
        } \
    } while (0)
#define EXPECT_PACK_EITHER(expected, other, name, ...) EXPECT_BOTH(int, expected, other, name, __VA_ARGS__)
#define EXPECT_PACK(expected, name, ...) EXPECT_BOTH(int, expected, expected, name, __VA_ARGS__)
#define EXPECT_EXTERNAL_EITHER(expected, other, name, ...) EXPECT_BOTH(MPI_Aint, expected, other, name, __VA_ARGS__)
#define EXPECT_EXTERNAL(expected, name, ...) EXPECT_BOTH(MPI_Aint, expected, expected, name, __VA_ARGS__)

static void packing(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype loose;
    int size;
    MPI_Count large_size;
    MPI_Type_contiguous(2, MPI_INT, &loose);
    EXPECT_PACK(MPI_ERR_COMM, Pack, data, 1, MPI_INT, buffer, 64, at, MPI_COMM_NULL);
    EXPECT_PACK(MPI_ERR_COUNT, Pack, data, -1, MPI_INT, buffer, 64, at, w);
    EXPECT_PACK(MPI_ERR_TYPE, Pack, data, 1, MPI_DATATYPE_NULL, buffer, 64, at, w);
    EXPECT_PACK(MPI_ERR_TYPE, Pack, data, 1, loose, buffer, 64, at, w);
    EXPECT_PACK_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, Pack, data, 8, MPI_INT, buffer, 31, at, w);
    EXPECT_PACK_EITHER(MPI_ERR_BUFFER, MPI_ERR_ARG, Pack, NULL, 1, MPI_INT, buffer, 64, at, w);
    EXPECT_PACK_EITHER(MPI_ERR_COUNT, MPI_ERR_ARG, Pack, data, 1, MPI_INT, buffer, -64, at, w);
    EXPECT_PACK(MPI_ERR_ARG, Pack, data, 1, MPI_INT, buffer, 64, NULL, w);
    EXPECT(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, w, &size));
    EXPECT(MPI_ERR_TYPE, MPI_Pack_size(1, MPI_DATATYPE_NULL, w, &size));
    EXPECT(MPI_ERR_COMM, MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &size));
    EXPECT(MPI_ERR_ARG, MPI_Pack_size(1, MPI_INT, w, NULL));
    EXPECT(MPI_ERR_COUNT, MPI_Pack_size_c(-1, MPI_INT, w, &large_size));
    EXPECT(MPI_ERR_TYPE, MPI_Pack_size_c(1, MPI_DATATYPE_NULL, w, &large_size));
    EXPECT(MPI_ERR_COMM, MPI_Pack_size_c(1, MPI_INT, MPI_COMM_NULL, &large_size));
    EXPECT(MPI_ERR_ARG, MPI_Pack_size_c(1, MPI_INT, w, NULL));
    EXPECT(MPI_SUCCESS, MPI_Type_free(&loose));
}

static void unpacking(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    EXPECT_PACK(MPI_ERR_COMM, Unpack, buffer, 64, at, data, 1, MPI_INT, MPI_COMM_NULL);
    EXPECT_PACK(MPI_ERR_COUNT, Unpack, buffer, 64, at, data, -1, MPI_INT, w);
    EXPECT_PACK(MPI_ERR_TYPE, Unpack, buffer, 64, at, data, 1, MPI_DATATYPE_NULL, w);
    EXPECT_PACK(MPI_ERR_ARG, Unpack, buffer, 64, NULL, data, 1, MPI_INT, w);
    EXPECT_PACK_EITHER(MPI_ERR_BUFFER, MPI_ERR_ARG, Unpack, buffer, 64, at, NULL, 1, MPI_INT, w);
    EXPECT_PACK_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, Unpack, buffer, 7, at, data, 2, MPI_INT, w);
    position = 60;
    EXPECT_PACK_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, Unpack, buffer, 64, at, data, 2, MPI_INT, w);
    position = -1;
    EXPECT_PACK(MPI_ERR_ARG, Unpack, buffer, 64, at, data, 1, MPI_INT, w);
    position = 0;
}

static void external(void)
{
    const char *format = "external32";
    MPI_Count size;
    EXPECT_EXTERNAL(MPI_ERR_ARG, Pack_external, "native", data, 1, MPI_INT, buffer, 64, at);
    EXPECT_EXTERNAL(MPI_ERR_ARG, Pack_external, NULL, data, 1, MPI_INT, buffer, 64, at);
    EXPECT_EXTERNAL(MPI_ERR_COUNT, Pack_external, format, data, -1, MPI_INT, buffer, 64, at);
    EXPECT_EXTERNAL(MPI_ERR_TYPE, Pack_external, format, data, 1, MPI_DATATYPE_NULL, buffer, 64, at);
    EXPECT_EXTERNAL(MPI_ERR_ARG, Pack_external, format, data, 1, MPI_INT, buffer, 64, NULL);
    EXPECT_EXTERNAL_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, Pack_external, format, data, 8, MPI_INT, buffer, 31, at);
    EXPECT_EXTERNAL(MPI_ERR_ARG, Unpack_external, "", buffer, 64, at, data, 1, MPI_INT);
    EXPECT_EXTERNAL(MPI_ERR_COUNT, Unpack_external, format, buffer, 64, at, data, -1, MPI_INT);
    EXPECT_EXTERNAL(MPI_ERR_TYPE, Unpack_external, format, buffer, 64, at, data, 1, MPI_DATATYPE_NULL);
    EXPECT_EXTERNAL(MPI_ERR_ARG, Unpack_external, format, buffer, 64, NULL, data, 1, MPI_INT);
    EXPECT_EXTERNAL_EITHER(MPI_ERR_ARG, MPI_ERR_TRUNCATE, Unpack_external, format, buffer, 7, at, data, 2, MPI_INT);
    EXPECT(MPI_ERR_ARG, MPI_Pack_external_size("external64", 1, MPI_INT, &place));
    EXPECT(MPI_ERR_COUNT, MPI_Pack_external_size(format, -1, MPI_INT, &place));
    EXPECT(MPI_ERR_TYPE, MPI_Pack_external_size(format, 1, MPI_DATATYPE_NULL, &place));
    EXPECT(MPI_ERR_ARG, MPI_Pack_external_size(format, 1, MPI_INT, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Pack_external_size_c("external64", 1, MPI_INT, &size));
    EXPECT(MPI_ERR_COUNT, MPI_Pack_external_size_c(format, -1, MPI_INT, &size));
    EXPECT(MPI_ERR_TYPE, MPI_Pack_external_size_c(format, 1, MPI_DATATYPE_NULL, &size));
    EXPECT(MPI_ERR_ARG, MPI_Pack_external_size_c(format, 1, MPI_INT, NULL));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "pack_arguments");
    packing();
    unpacking();
    external();
    return expect_finish();
}
