/* Writes that fail: no room for the file, by its process's limit. An error wherever data were lost, no process waits, and
 * nothing outside the range is changed: MPI-5.0 §14.7. */
#include "files.h"
#include <signal.h>
#include <sys/resource.h>

/* Less than the library's own shared memory, which the limit is not for. */
enum { LIMIT = 1 << 20, BELOW = 1 << 16 };

static void interleaved(MPI_File file, int nonblocking)
{
    static int data[1 << 14];
    MPI_Datatype column, mine;
    MPI_Type_create_resized(MPI_INT, 0, 4 * size_of_world, &column);
    MPI_Type_contiguous(1 << 14, column, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, LIMIT - BELOW + 4 * rank_of_world, MPI_INT, mine, "native", MPI_INFO_NULL);
    for (int i = 0; i < 1 << 14; i++)
        data[i] = -1;
    int code;
    if (nonblocking) {
        MPI_Request request;
        code = MPI_File_iwrite_all(file, data, 1 << 14, MPI_INT, &request);
        CHECK_CLASS(code, MPI_SUCCESS, "§14.4");
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        code = MPI_File_write_all(file, data, 1 << 14, MPI_INT, MPI_STATUS_IGNORE);
    }
    /* A file of one process ends at the limit; of several, it is beyond it. */
    if (size_of_world > 1)
        CHECK_CLASS(code, MPI_ERR_IO, "§14.7: on all processes");
    MPI_Type_free(&column);
    MPI_Type_free(&mine);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_of_file(file) <= LIMIT, "nothing beyond the limit");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "failures");
    MPI_File file = open_scratch();
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = LIMIT;
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_Barrier(MPI_COMM_WORLD);
    int word = 7;
    CHECK_CLASS(MPI_File_write_at(file, LIMIT, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_IO, "§14.7");
    MPI_Request request;
    CHECK_CLASS(MPI_File_iwrite_at(file, LIMIT, &word, 1, MPI_INT, &request), MPI_SUCCESS, "§14.7");
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_IO, "§14.7: by the file's handler");
    interleaved(file, 0);
    interleaved(file, 1);
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    /* It goes on as if nothing had been. */
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    CHECK_CLASS(MPI_File_write_at(file, LIMIT / 4 + rank_of_world, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    /* A file whose name is gone is still open. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world == 0)
        unlink(file_name);
    MPI_Barrier(MPI_COMM_WORLD);
    word = 0;
    CHECK_CLASS(MPI_File_read_at(file, LIMIT / 4 + rank_of_world, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    CHECK_EQUAL(word, 7, "§14.4");
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_NO_SUCH_FILE, "§14.2.2: it cannot be deleted");
    CHECK(file == MPI_FILE_NULL, "§14.2.2: and is closed");
    return check_finish();
}
