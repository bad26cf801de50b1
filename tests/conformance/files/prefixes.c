/* Words of file systems in front of a file's name are taken off, which the standard leaves to the implementation; other colons
 * are of the name: MPI-5.0 §14.2.1, §14.2.3. */
#include "files.h"

static char folder[512], path[768], written[800];

static void set_paths(const char *prefix, const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(written, sizeof written, "%s%s", prefix, path);
}

/* A file by a name is the one at a path, which is there afterwards and not before. */
static void is_at_path(void)
{
    MPI_File file;
    CHECK(access(path, F_OK) != 0, "a fresh name");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, written, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS,
                "§14.2.1");
    CHECK(access(path, F_OK) == 0, "§14.2.1", "%s is not %s", written, path);
    close_file(file);
    if (rank_of_world == 0)
        CHECK_CLASS(MPI_File_delete(written, MPI_INFO_NULL), MPI_SUCCESS, "§14.2.3");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path, F_OK) != 0, "§14.2.3: deleted");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const known[] = { "ufs:", "nfs:", "lustre:", "UFS:", "panfs:", "gpfs:", "pvfs2:", "xfs:", "testfs:",
                                         "bglockless:" };
    static const char *const names[] = { "ufs:data", "x:data", "run:12:00", "nfs:" };
    MPI_File file;
    check_start(&argc, &argv, "prefixes");
    name_file();
    strcpy(folder, file_name);
    if (rank_of_world == 0)
        CHECK(mkdir(folder, 0700) == 0, "a folder");
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        set_paths(known[i], "data"), is_at_path();
    /* A colon behind a slash, or behind another word, is the name's. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        set_paths("", names[i]), is_at_path();
    set_paths("nfs:", "ufs:data");
    is_at_path();
    if (chdir(folder) == 0) {
        strcpy(path, "ufs:data"), strcpy(written, "./ufs:data");
        is_at_path();
        strcpy(path, "x:data"), strcpy(written, "x:data");
        is_at_path();
        strcpy(path, "run:data"), strcpy(written, "run:data");
        is_at_path();
    }
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "ufs:", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE,
                "§14.7");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world == 0)
        CHECK(rmdir(folder) == 0, "nothing is left");
    return check_finish();
}
