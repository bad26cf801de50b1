/* "external32" byte by byte: MPI-5.0 §5.3, §14.5.2.
 *
 * MPICH 5.0.2 crashes (an illegal instruction) in the course of it. */
#include "check.h"

/* Packs, compares with `want` (`bytes` long), unpacks and compares with the data, which have `native` bytes. */
static void exact(MPI_Datatype type, const void *data, size_t native, const void *want, int bytes)
{
    unsigned char buffer[128], back[128];
    MPI_Aint size = -1, position = 0;
    MPI_Count large = -1, large_position = 3;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(type, name, &length);
    MPI_Pack_external_size("external32", 1, type, &size);
    MPI_Pack_external_size_c("external32", 1, type, &large);
    CHECK(size == bytes && large == bytes, "MPI-5.0 §14.5.2: sizes", "%s: %ld", name, (long)size);
    MPI_Pack_external("external32", data, 1, type, buffer, sizeof buffer, &position);
    CHECK(position == bytes && memcmp(buffer, want, (size_t)bytes) == 0, "MPI-5.0 §14.5.2", "%s", name);
    MPI_Pack_external_c("external32", data, 1, type, buffer, sizeof buffer, &large_position);
    CHECK(large_position == bytes + 3 && memcmp(buffer + 3, want, (size_t)bytes) == 0, "MPI-5.0 §14.5.2", "%s", name);
    position = 3;
    memset(back, 0, sizeof back);
    MPI_Unpack_external("external32", buffer, bytes + 3, &position, back, 1, type);
    CHECK(position == bytes + 3 && memcmp(back, data, native) == 0, "MPI-5.0 §14.5.2", "%s", name);
}

static void numbers(void)
{
    exact(MPI_CHAR, "x", 1, "x", 1);
    exact(MPI_BYTE, "\xfe", 1, "\xfe", 1);
    exact(MPI_SHORT, &(short){ -2 }, 2, "\xff\xfe", 2);
    exact(MPI_INT, &(int){ 0x01020304 }, 4, "\1\2\3\4", 4);
    exact(MPI_UNSIGNED, &(unsigned){ 0xfffefdfc }, 4, "\xff\xfe\xfd\xfc", 4);
    exact(MPI_LONG, &(long){ -3 }, sizeof(long), "\xff\xff\xff\xfd", 4);
    exact(MPI_UNSIGNED_LONG, &(unsigned long){ 0x80000001 }, sizeof(long), "\x80\0\0\1", 4);
    exact(MPI_LONG_LONG, &(long long){ 0x0102030405060708 }, 8, "\1\2\3\4\5\6\7\x8", 8);
    exact(MPI_INT64_T, &(int64_t){ -2 }, 8, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
    exact(MPI_AINT, &(MPI_Aint){ 5 }, 8, "\0\0\0\0\0\0\0\5", 8);
    exact(MPI_FLOAT, &(float){ 1.0f }, 4, "\x3f\x80\0\0", 4);
    exact(MPI_DOUBLE, &(double){ -2.0 }, 8, "\xc0\0\0\0\0\0\0\0", 8);
    exact(MPI_C_BOOL, &(_Bool){ 1 }, 1, "\1", 1);
    float complex_number[2] = { 1.0f, -1.0f };
    exact(MPI_C_FLOAT_COMPLEX, complex_number, 8, "\x3f\x80\0\0\xbf\x80\0\0", 8);
}

/* Without the holes of C, in type map order. */
static void layouts(void)
{
    struct {
        char tag;
        double value;
        short number;
    } record = { 'q', 1.0, 258 };
    int lengths[3] = { 1, 1, 1 };
    MPI_Aint places[3] = { 0, (char *)&record.value - (char *)&record, (char *)&record.number - (char *)&record };
    MPI_Datatype types[3] = { MPI_CHAR, MPI_DOUBLE, MPI_SHORT }, type;
    unsigned char buffer[16];
    MPI_Aint position = 0;
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external("external32", &record, 1, type, buffer, sizeof buffer, &position);
    CHECK(position == 11 && memcmp(buffer, "q\x3f\xf0\0\0\0\0\0\0\1\2", 11) == 0, "MPI-5.0 §14.5.2");
    memset(&record, 0, sizeof record);
    position = 0;
    MPI_Unpack_external("external32", buffer, 11, &position, &record, 1, type);
    CHECK(record.tag == 'q' && record.value == 1.0 && record.number == 258, "MPI-5.0 §5.3");
    MPI_Type_free(&type);

    int grid[4][4], got[8];
    unsigned char columns[32];
    for (int i = 0; i < 16; i++)
        grid[i / 4][i % 4] = i << 16;
    MPI_Type_vector(4, 2, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    position = 0;
    MPI_Pack_external("external32", grid, 1, type, columns, sizeof columns, &position);
    CHECK(position == 32 && memcmp(columns + 8, "\0\4\0\0\0\5\0\0", 8) == 0, "MPI-5.0 §14.5.2");
    position = 0;
    MPI_Unpack_external("external32", columns, 32, &position, got, 8, MPI_INT);
    for (int i = 0; i < 8; i++)
        CHECK_EQUAL(got[i], (i / 2 * 4 + i % 2) << 16, "MPI-5.0 §5.3");
    MPI_Type_free(&type);
}

/* More than fits any buffer inside of the library. */
static void many(void)
{
    enum { MANY = 50001 };
    double *data = need(MANY * sizeof *data), *got = need(MANY * sizeof *got);
    unsigned char *buffer = need(MANY * 8);
    MPI_Count position = 0;
    for (int i = 0; i < MANY; i++)
        data[i] = i * 0.5;
    MPI_Pack_external_c("external32", data, MANY, MPI_DOUBLE, buffer, MANY * 8, &position);
    CHECK_EQUAL(position, MANY * 8, "MPI-5.0 §5.3");
    for (int i = 0; i < MANY; i++) {
        unsigned char native[8];
        for (int k = 0; k < 8; k++)
            native[k] = buffer[8 * i + 7 - k];
        CHECK(memcmp(native, &data[i], 8) == 0, "MPI-5.0 §14.5.2", "at %d", i);
    }
    position = 0;
    MPI_Unpack_external_c("external32", buffer, MANY * 8, &position, got, MANY, MPI_DOUBLE);
    CHECK(memcmp(data, got, MANY * sizeof *data) == 0, "MPI-5.0 §5.3");
    free(data);
    free(got);
    free(buffer);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "external32");
    numbers();
    layouts();
    many();
    return check_finish();
}
