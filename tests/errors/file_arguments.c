/* Wrong arguments of the calls on files: MPI-5.0 chapter 14. A file's errors go to its own handler, which returns.
 * ranks: 1 */
#include "expect.h"
#include <fcntl.h>
#include <unistd.h>

static char name[64];
static MPI_File file, stale, none;
static int word;
static MPI_Offset at;
static MPI_Request request;
static MPI_Status status;

static void opening(void)
{
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    EXPECT(MPI_ERR_COMM, MPI_File_open(MPI_COMM_NULL, name, amode, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_ARG, MPI_File_open(MPI_COMM_SELF, NULL, amode, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_SELF, "", amode, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, 0, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_WRONLY, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | 1 << 20, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_INFO, MPI_File_open(MPI_COMM_SELF, name, amode, (MPI_Info)(uintptr_t)0x5000, &none));
    EXPECT(MPI_ERR_ARG, MPI_File_open(MPI_COMM_SELF, name, amode, MPI_INFO_NULL, NULL));
    EXPECT_EITHER(MPI_ERR_BAD_FILE, MPI_ERR_ACCESS, MPI_File_open(MPI_COMM_SELF, "/tmp", amode, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_SELF, "/dev/null/x", amode, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_SELF, "/nowhere/x", amode, MPI_INFO_NULL, &none));
    EXPECT(MPI_ERR_NO_SUCH_FILE, MPI_File_delete("/nowhere/x", MPI_INFO_NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_delete(NULL, MPI_INFO_NULL));
    EXPECT(MPI_ERR_INFO, MPI_File_delete(name, (MPI_Info)(uintptr_t)0x5000));
    EXPECT(MPI_ERR_ARG, MPI_File_close(NULL));
    none = MPI_FILE_NULL;
    EXPECT(MPI_ERR_FILE, MPI_File_close(&none));
    none = stale;
    EXPECT(MPI_ERR_FILE, MPI_File_close(&none));
}

/* Every call on a file refuses what is none. */
#define NO_FILE(name, ...) \
    do { \
        EXPECT(MPI_ERR_FILE, MPI_File_##name(MPI_FILE_NULL, ##__VA_ARGS__)); \
        EXPECT(MPI_ERR_FILE, MPI_File_##name(stale, ##__VA_ARGS__)); \
    } while (0)

static void no_file(void)
{
    int number;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype etype, filetype;
    MPI_Info_create(&info);
    char text[MPI_MAX_DATAREP_STRING];
    NO_FILE(set_size, 1);
    NO_FILE(preallocate, 1);
    NO_FILE(get_size, &at);
    NO_FILE(get_group, &group);
    NO_FILE(get_amode, &number);
    NO_FILE(set_info, info);
    NO_FILE(get_info, &info);
    NO_FILE(set_view, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    NO_FILE(get_view, &at, &etype, &filetype, text);
    NO_FILE(seek, 0, MPI_SEEK_SET);
    NO_FILE(seek_shared, 0, MPI_SEEK_SET);
    NO_FILE(get_position, &at);
    NO_FILE(get_position_shared, &at);
    NO_FILE(get_byte_offset, 0, &at);
    MPI_Aint extent;
    MPI_Count large;
    NO_FILE(get_type_extent, MPI_INT, &extent);
    NO_FILE(get_type_extent_c, MPI_INT, &large);
    NO_FILE(set_atomicity, 1);
    NO_FILE(get_atomicity, &number);
    NO_FILE(sync);
}

/* No address for the answer. */
static void no_place(void)
{
    EXPECT(MPI_ERR_ARG, MPI_File_get_size(file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_group(file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_amode(file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_info(file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_view(file, NULL, NULL, NULL, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_position(file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_position_shared(file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_byte_offset(file, 0, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_get_atomicity(file, NULL));
    EXPECT_COUNTS(MPI_ERR_ARG, File_get_type_extent, file, MPI_INT, NULL);
}

static void numbers(void)
{
    EXPECT(MPI_ERR_ARG, MPI_File_set_size(file, -1));
    EXPECT(MPI_ERR_ARG, MPI_File_preallocate(file, -1));
    EXPECT(MPI_ERR_INFO, MPI_File_set_info(file, MPI_INFO_NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    EXPECT(MPI_ERR_ARG, MPI_File_seek(file, 0, 12345));
    EXPECT(MPI_ERR_ARG, MPI_File_seek_shared(file, -1, MPI_SEEK_SET));
    EXPECT(MPI_ERR_ARG, MPI_File_seek_shared(file, 0, 12345));
    EXPECT(MPI_ERR_ARG, MPI_File_get_byte_offset(file, -1, &at));
    EXPECT_COUNTS(MPI_ERR_TYPE, File_get_type_extent, file, MPI_DATATYPE_NULL, (void *)&at);
}

static void views(void)
{
    MPI_Datatype open, back, vector;
    int places[] = {2, 0};
    MPI_Type_contiguous(3, MPI_INT, &open);
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &back);
    MPI_Type_commit(&back);
    MPI_Type_vector(2, 1, 2, MPI_SHORT, &vector);
    MPI_Type_commit(&vector);
    EXPECT(MPI_ERR_ARG, MPI_File_set_view(file, -2, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_TYPE, MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_TYPE, MPI_File_set_view(file, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_TYPE, MPI_File_set_view(file, 0, MPI_INT, open, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_IO, MPI_File_set_view(file, 0, MPI_INT, back, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "ebcdic", MPI_INFO_NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, NULL, MPI_INFO_NULL));
    EXPECT(MPI_ERR_INFO, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", (MPI_Info)(uintptr_t)0x5000));
    /* After all that it is what it was. */
    MPI_Datatype etype, filetype;
    char text[MPI_MAX_DATAREP_STRING];
    MPI_File_get_view(file, &at, &etype, &filetype, text);
    CHECK(at == 0 && etype == MPI_BYTE && filetype == MPI_BYTE, "§14.3");
    MPI_Type_free(&open);
    MPI_Type_free(&back);
    MPI_Type_free(&vector);
}

/* Each access, in both forms: no file, no buffer, a negative count, no datatype. */
#define ACCESS(name, ...) \
    do { \
        EXPECT_COUNTS(MPI_ERR_FILE, File_##name, stale, __VA_ARGS__ &word, 1, MPI_INT, LAST); \
        EXPECT_COUNTS(MPI_ERR_BUFFER, File_##name, file, __VA_ARGS__ NULL, 1, MPI_INT, LAST); \
        EXPECT_COUNTS(MPI_ERR_COUNT, File_##name, file, __VA_ARGS__ &word, -1, MPI_INT, LAST); \
        EXPECT_COUNTS(MPI_ERR_TYPE, File_##name, file, __VA_ARGS__ &word, 1, MPI_DATATYPE_NULL, LAST); \
    } while (0)

#define OFFSET 0,

static void accesses(void)
{
#define LAST &status
    ACCESS(read_at, OFFSET);
    ACCESS(write_at, OFFSET);
    ACCESS(read_at_all, OFFSET);
    ACCESS(write_at_all, OFFSET);
    ACCESS(read, );
    ACCESS(write, );
    ACCESS(read_all, );
    ACCESS(write_all, );
    ACCESS(read_shared, );
    ACCESS(write_shared, );
    ACCESS(read_ordered, );
    ACCESS(write_ordered, );
#undef LAST
#define LAST &request
    ACCESS(iread_at, OFFSET);
    ACCESS(iwrite_at, OFFSET);
    ACCESS(iread_at_all, OFFSET);
    ACCESS(iwrite_at_all, OFFSET);
    ACCESS(iread, );
    ACCESS(iwrite, );
    ACCESS(iread_all, );
    ACCESS(iwrite_all, );
    ACCESS(iread_shared, );
    ACCESS(iwrite_shared, );
#undef LAST
    EXPECT_COUNTS(MPI_ERR_ARG, File_read_at, file, -1, &word, 1, MPI_INT, &status);
    EXPECT_COUNTS(MPI_ERR_ARG, File_iwrite_at, file, -1, &word, 1, MPI_INT, &request);
    EXPECT_COUNTS(MPI_ERR_ARG, File_iread, file, &word, 1, MPI_INT, NULL);
    EXPECT(MPI_ERR_ARG, MPI_File_write_at(file, INT64_MAX - 2, &word, 1, MPI_INT, &status));
}

#define BEGIN(name, ...) \
    do { \
        EXPECT_COUNTS(MPI_ERR_FILE, File_##name##_begin, stale, __VA_ARGS__ &word, 1, MPI_INT); \
        EXPECT_COUNTS(MPI_ERR_BUFFER, File_##name##_begin, file, __VA_ARGS__ NULL, 1, MPI_INT); \
        EXPECT_COUNTS(MPI_ERR_COUNT, File_##name##_begin, file, __VA_ARGS__ &word, -1, MPI_INT); \
        EXPECT(MPI_ERR_FILE, MPI_File_##name##_end(stale, &word, &status)); \
        EXPECT(MPI_ERR_ARG, MPI_File_##name##_end(file, &word, &status)); \
    } while (0)

static void pairs(void)
{
    BEGIN(read_at_all, OFFSET);
    BEGIN(write_at_all, OFFSET);
    BEGIN(read_all, );
    BEGIN(write_all, );
    BEGIN(read_ordered, );
    BEGIN(write_ordered, );
    /* One at a time, ended by its own end, with its own buffer: §14.4.5. */
    int other;
    MPI_File_write_all_begin(file, &word, 1, MPI_INT);
    EXPECT(MPI_ERR_IO, MPI_File_read_all_begin(file, &other, 1, MPI_INT));
    EXPECT(MPI_ERR_ARG, MPI_File_read_all_end(file, &word, &status));
    EXPECT(MPI_ERR_ARG, MPI_File_write_at_all_end(file, &word, &status));
    EXPECT(MPI_ERR_ARG, MPI_File_write_all_end(file, &other, &status));
    EXPECT(MPI_ERR_IO, MPI_File_close(&file));
    EXPECT(MPI_SUCCESS, MPI_File_write_all_end(file, &word, &status));
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)type;
    (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}

static void representations(void)
{
    MPI_Datarep_conversion_function *fn = MPI_CONVERSION_FN_NULL;
    MPI_Datarep_conversion_function_c *fn_c = MPI_CONVERSION_FN_NULL_C;
    EXPECT(MPI_ERR_ARG, MPI_Register_datarep(NULL, fn, fn, extent_of, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Register_datarep("", fn, fn, extent_of, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Register_datarep("other", fn, fn, NULL, NULL));
    EXPECT(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("native", fn, fn, extent_of, NULL));
    EXPECT(MPI_SUCCESS, MPI_Register_datarep("other", fn, fn, extent_of, NULL));
    EXPECT(MPI_ERR_DUP_DATAREP, MPI_Register_datarep_c("other", fn_c, fn_c, extent_of, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Register_datarep_c("another", fn_c, fn_c, NULL, NULL));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "file_arguments");
    strcpy(name, "/tmp/weft-errors-XXXXXX");
    close(mkstemp(name));
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &stale);
    none = stale;
    MPI_File_close(&none);
    opening();
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    no_file();
    no_place();
    numbers();
    views();
    accesses();
    pairs();
    representations();
    MPI_File_close(&file);
    return expect_finish();
}
