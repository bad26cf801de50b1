/* Data representations: MPI-5.0 §14.5. */
#include "files.h"
#include <stddef.h>

/* external32 is big-endian, and a long has 4 bytes: §14.5.2. */
static void external32(void)
{
    MPI_File file = open_scratch();
    MPI_Aint extent = -1;
    struct { int number; long wide; double real; } in[3], out[3];
    int lengths[] = {1, 1, 1};
    MPI_Aint places[] = {offsetof(__typeof__(in[0]), number), offsetof(__typeof__(in[0]), wide), offsetof(__typeof__(in[0]), real)};
    MPI_Datatype types[] = {MPI_INT, MPI_LONG, MPI_DOUBLE}, record, sized, pair;
    MPI_Type_create_struct(3, lengths, places, types, &record);
    MPI_Type_create_resized(record, 0, sizeof in[0], &sized);
    MPI_Type_commit(&sized);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    /* 16 bytes of the file for each record. */
    CHECK_CLASS(MPI_File_set_view(file, rank_of_world * 48, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL), MPI_SUCCESS, "§14.5");
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    CHECK_EQUAL(extent, 4, "§14.5.1");
    MPI_File_get_type_extent(file, pair, &extent);
    CHECK_EQUAL(extent, 8, "§14.5.1");
    memset(in, 0, sizeof in);
    for (int i = 0; i < 3; i++) {
        in[i].number = 0x01020304 + i;
        in[i].wide = -2 - i;
        in[i].real = 1.5 * (i + 1);
    }
    MPI_Status status;
    CHECK_CLASS(MPI_File_write(file, in, 3, sized, &status), MPI_SUCCESS, "§14.5");
    CHECK_EQUAL(status_count(&status, sized), 3, "§14.4.5");
    settle_file(file);
    unsigned char bytes[48];
    static const unsigned char first[16] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe, 0x3f, 0xf8};
    if (rank_of_world == 0) {
        CHECK_EQUAL(raw_bytes(bytes, 48), 48, "§14.5.2");
        CHECK(memcmp(bytes, first, 16) == 0, "§14.5.2");
    }
    memset(out, 0, sizeof out);
    CHECK_CLASS(MPI_File_read_at_all(file, 0, out, 3, sized, &status), MPI_SUCCESS, "§14.5");
    CHECK(memcmp(in, out, sizeof in) == 0, "§14.5");
    memset(out, 0, sizeof out);
    MPI_Request request;
    MPI_File_iread_at(file, 16, out, 2, sized, &request);
    MPI_Wait(&request, &status);
    CHECK(memcmp(in + 1, out, 2 * sizeof in[0]) == 0 && out[2].number == 0, "§14.5");
    /* The last one is cut by the end of the file: what is there is converted. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(file, (size_of_world - 1) * 48 + 24);
    if (rank_of_world == size_of_world - 1) {
        memset(out, 0, sizeof out);
        MPI_File_read_at(file, 0, out, 3, sized, &status);
        CHECK(out[1].number == in[1].number && out[1].wide == in[1].wide && out[1].real == 0, "§14.4.5");
        int elements = -1;
        MPI_Get_elements(&status, sized, &elements);
        CHECK_EQUAL(elements, 5, "§14.4.5");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* Offsets count etypes as they are in the file. */
    MPI_Offset at = -1;
    MPI_Datatype every;
    MPI_Type_vector(2, 1, 3, MPI_LONG, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, 8, MPI_LONG, every, "external32", MPI_INFO_NULL);
    MPI_File_get_byte_offset(file, 1, &at);
    CHECK_EQUAL(at, 8 + 3 * 4, "§14.5.1");
    MPI_Type_free(&every);
    MPI_Type_free(&record);
    MPI_Type_free(&sized);
    MPI_Type_free(&pair);
    close_file(file);
}

static int state, calls;

/* In the file an int has 8 bytes: its value and the value's complement. */
static int file_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    CHECK(extra == &state, "§14.5.3");
    *extent = type == MPI_INT ? 8 : 1;
    return MPI_SUCCESS;
}

static int convert(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, int writes)
{
    int *stored = file;
    MPI_Count lower, extent;
    MPI_Type_get_extent_c(type, &lower, &extent);
    CHECK_EQUAL(position, 0, "§14.5.3");
    for (MPI_Count i = 0; i < count; i++) {
        int *number = (int *)((char *)user + i * extent);
        if (writes) {
            stored[2 * i] = *number;
            stored[2 * i + 1] = ~*number;
        } else if (stored[2 * i] == ~stored[2 * i + 1]) {
            *number = stored[2 * i];
        } else {
            return MPI_ERR_CONVERSION;
        }
    }
    calls++;
    return MPI_SUCCESS;
}

static int read_small(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "§14.5.3");
    return convert(user, type, count, file, position, 0);
}

static int write_small(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "§14.5.3");
    return convert(user, type, count, file, position, 1);
}

static int read_large(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "§14.5.3");
    return convert(user, type, count, file, position, 0);
}

static int write_large(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "§14.5.3");
    return convert(user, type, count, file, position, 1);
}

static void registered(const char *name)
{
    enum { COUNT = 5 };
    MPI_File file = open_scratch();
    CHECK_CLASS(MPI_File_set_view(file, rank_of_world * 8 * COUNT, MPI_INT, MPI_INT, name, MPI_INFO_NULL), MPI_SUCCESS, "§14.5.3");
    MPI_Aint extent = -1;
    MPI_File_get_type_extent(file, MPI_INT, &extent);
    CHECK_EQUAL(extent, 8, "§14.5.1");
    MPI_Datatype spread;
    MPI_Type_create_resized(MPI_INT, 0, 12, &spread);
    MPI_Type_commit(&spread);
    int in[3 * COUNT], out[3 * COUNT], before = calls;
    for (int i = 0; i < 3 * COUNT; i++)
        in[i] = 100 * rank_of_world + i, out[i] = -1;
    MPI_Status status;
    CHECK_CLASS(MPI_File_write_all(file, in, COUNT, spread, &status), MPI_SUCCESS, "§14.5.3");
    CHECK_EQUAL(status_count(&status, MPI_INT), COUNT, "§14.4.5");
    settle_file(file);
    MPI_Request request;
    CHECK_CLASS(MPI_File_iread_at(file, 1, out, COUNT - 1, MPI_INT, &request), MPI_SUCCESS, "§14.5.3");
    MPI_Wait(&request, &status);
    CHECK_EQUAL(status_count(&status, MPI_INT), COUNT - 1, "§14.4.5");
    for (int i = 0; i < COUNT - 1; i++)
        CHECK_EQUAL(out[i], in[3 * (i + 1)], "§14.5.3");
    CHECK(calls > before, "§14.5.3");
    MPI_Barrier(MPI_COMM_WORLD);
    /* What the function refuses is an error of the call, and its code what the call returns. */
    if (rank_of_world == 0) {
        int descriptor = open(file_name, O_WRONLY);
        CHECK_EQUAL(pwrite(descriptor, "junk", 4, 0), 4, "a file");
        close(descriptor);
        CHECK_CLASS(MPI_File_read_at(file, 0, out, 1, MPI_INT, &status), MPI_ERR_CONVERSION, "§14.5.3");
    }
    MPI_Type_free(&spread);
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "representations");
    external32();
    CHECK_CLASS(MPI_Register_datarep("twice", read_small, write_small, file_extent, &state), MPI_SUCCESS, "§14.5.3");
    CHECK_CLASS(MPI_Register_datarep_c("twice_c", read_large, write_large, file_extent, &state), MPI_SUCCESS, "§14.5.3");
    registered("twice");
    registered("twice_c");
    return check_finish();
}
