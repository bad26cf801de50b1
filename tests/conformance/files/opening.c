/* Opening, closing, deleting; modes; sizes; groups and hints of files: MPI-5.0 §14.2. */
#include "files.h"

static void modes(void)
{
    MPI_File file = MPI_FILE_NULL;
    name_file();
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE, "§14.7");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE, "§14.7");
    file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN);
    int amode = 0;
    MPI_File_get_amode(file, &amode);
    CHECK_EQUAL(amode, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN, "§14.2.7");
    int word = 7;
    MPI_Status status;
    CHECK_CLASS(MPI_File_read(file, &word, 1, MPI_INT, &status), MPI_ERR_ACCESS, "§14.2.1: not to be read");
    CHECK_CLASS(MPI_File_write_at(file, 4 * rank_of_world, &word, 1, MPI_INT, &status), MPI_SUCCESS, "§14.4.2");
    CHECK_EQUAL(status_count(&status, MPI_INT), 1, "§14.4.5");
    close_file(file);
    int again = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name, again, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS, "§14.2.1");
    file = open_file(MPI_MODE_RDONLY);
    CHECK_EQUAL(size_of_file(file), 4 * size_of_world, "§14.2.6");
    CHECK_CLASS(MPI_File_write(file, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY, "§14.7");
    CHECK_CLASS(MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY, "§14.2.4");
    word = 0;
    MPI_File_read_at(file, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK_EQUAL(word, 7, "§14.4.2");
    close_file(file);
    /* All pointers are at the end, and the file is deleted with its last handle. */
    file = open_file(MPI_MODE_APPEND | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Offset at = -1;
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, 4 * size_of_world, "§14.2.1");
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, 4 * size_of_world, "§14.2.1");
    close_file(file);
    CHECK(access(file_name, F_OK) != 0, "§14.2.2: deleted");
}

static void deleting(void)
{
    name_file();
    close_file(open_file(MPI_MODE_CREATE | MPI_MODE_RDWR));
    if (rank_of_world == 0) {
        CHECK_CLASS(MPI_File_delete(file_name, MPI_INFO_NULL), MPI_SUCCESS, "§14.2.3");
        CHECK_CLASS(MPI_File_delete(file_name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "§14.2.3");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each process has a file of its own open, too. */
static void alone(void)
{
    name_file();
    char own[sizeof file_name + 16];
    snprintf(own, sizeof own, "%s-%d", file_name, rank_of_world);
    MPI_File file;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, own, amode, MPI_INFO_NULL, &file), MPI_SUCCESS, "§14.2.1");
    int word = rank_of_world, back = -1;
    MPI_File_write_shared(file, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK_EQUAL(back, rank_of_world, "§14.4");
    close_file(file);
}

static void sizes(void)
{
    MPI_File file = open_scratch();
    CHECK_EQUAL(size_of_file(file), 0, "§14.2.6");
    /* Past 2^32, with nothing in it. */
    MPI_Offset large = (1LL << 33) + 5;
    CHECK_CLASS(MPI_File_set_size(file, large), MPI_SUCCESS, "§14.2.4");
    CHECK_EQUAL(size_of_file(file), large, "§14.2.6");
    char byte = 'x', back = 0;
    MPI_File_write_at_all(file, large - 1, &byte, rank_of_world == 0, MPI_CHAR, MPI_STATUS_IGNORE);
    settle_file(file);
    MPI_File_read_at(file, large - 1, &back, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK_EQUAL(back, 'x', "§14.4.2");
    CHECK_CLASS(MPI_File_set_size(file, 10), MPI_SUCCESS, "§14.2.4");
    CHECK_EQUAL(size_of_file(file), 10, "§14.2.4: cut off");
    CHECK_CLASS(MPI_File_preallocate(file, 100000), MPI_SUCCESS, "§14.2.5");
    CHECK_EQUAL(size_of_file(file), 100000, "§14.2.5");
    CHECK_CLASS(MPI_File_preallocate(file, 10), MPI_SUCCESS, "§14.2.5");
    CHECK_EQUAL(size_of_file(file), 100000, "§14.2.5: not cut off");
    if (size_of_world > 1) {
        CHECK_CLASS(MPI_File_set_size(file, rank_of_world), MPI_ERR_NOT_SAME, "§14.2.4");
        CHECK_EQUAL(size_of_file(file), 100000, "§14.2.4");
    }
    close_file(file);
}

static void groups_and_hints(void)
{
    MPI_Info info, used;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_Info_set(info, "access_style", "write_once,random");
    MPI_Info_set(info, "no_hint_at_all", "1");
    name_file();
    MPI_File file;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name, amode, info, &file), MPI_SUCCESS, "§14.2.8");
    MPI_Group group, world;
    MPI_File_get_group(file, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int result = -1, flag = -1;
    MPI_Group_compare(group, world, &result);
    CHECK_EQUAL(result, MPI_IDENT, "§14.2.7");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    char value[64];
    int length = sizeof value;
    MPI_File_get_info(file, &used);
    MPI_Info_get_string(used, "cb_buffer_size", &length, value, &flag);
    CHECK(flag && strcmp(value, "65536") == 0, "§14.2.8");
    length = sizeof value;
    MPI_Info_get_string(used, "access_style", &length, value, &flag);
    CHECK(flag && strcmp(value, "write_once,random") == 0, "§14.2.8");
    length = sizeof value;
    MPI_Info_get_string(used, "no_hint_at_all", &length, value, &flag);
    CHECK(!flag, "§14.2.8");
    MPI_Info_free(&used);
    MPI_Info_set(info, "cb_nodes", "1");
    CHECK_CLASS(MPI_File_set_info(file, info), MPI_SUCCESS, "§14.2.8");
    MPI_File_get_info(file, &used);
    length = sizeof value;
    MPI_Info_get_string(used, "cb_nodes", &length, value, &flag);
    CHECK(flag && strcmp(value, "1") == 0, "§14.2.8");
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    /* The integer form of the handle, MPI-5.0 §20.4. */
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file, "§20.4");
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "§20.4");
    int number = MPI_File_toint(file);
    close_file(file);
    CHECK(MPI_File_fromint(number) == MPI_FILE_NULL, "§20.4");
}

static int handled;

static void handle(MPI_File *file, int *code, ...)
{
    CHECK(*file != MPI_FILE_NULL, "§9.3.3");
    handled = class_of(*code);
}

/* Files have handlers of their own, which return at first: §14.7. */
static void handlers(void)
{
    MPI_File file = open_scratch();
    MPI_Errhandler handler, found;
    MPI_File_get_errhandler(file, &found);
    CHECK(found == MPI_ERRORS_RETURN, "§14.7");
    MPI_File_create_errhandler(handle, &handler);
    MPI_File_set_errhandler(file, handler);
    int word;
    CHECK_CLASS(MPI_File_read_at(file, -1, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG, "§14.4.2");
    CHECK_EQUAL(handled, MPI_ERR_ARG, "§9.3.3");
    MPI_File_call_errhandler(file, MPI_ERR_IO);
    CHECK_EQUAL(handled, MPI_ERR_IO, "§9.3.4");
    MPI_File_get_errhandler(MPI_FILE_NULL, &found);
    CHECK(found == MPI_ERRORS_RETURN, "§14.7: others keep theirs");
    MPI_Errhandler_free(&handler);
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "opening");
    modes();
    deleting();
    alone();
    sizes();
    groups_and_hints();
    handlers();
    return check_finish();
}
