/* file_faults CASE FOLDER: system calls on files that fail or move less than they were asked for, as those of this program do. The linker has the library
 * call these instead of the C library's. CASE is `short`, or the name of an error, which all reads and writes from some moment on have. */
#include "expect.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { INTS = 40000, MOST = 1000 };

static int rank, size, data[INTS], back[INTS];
static char path[4096];
static volatile int refused, shortened; /* an error's number; whether calls move little, and every other one is interrupted */
static _Atomic long calls;

static long faulty(long number, int descriptor, uintptr_t bytes, size_t count, off_t at)
{
    long call = ++calls;
    if (refused) {
        errno = refused;
        return -1;
    }
    if (shortened && call % 2) {
        errno = EINTR;
        return -1;
    }
    return syscall(number, descriptor, bytes, shortened && count > MOST ? MOST : count, at);
}

ssize_t pread64(int descriptor, void *into, size_t count, off64_t at) { return faulty(SYS_pread64, descriptor, (uintptr_t)into, count, at); }
ssize_t pwrite64(int descriptor, const void *from, size_t count, off64_t at) { return faulty(SYS_pwrite64, descriptor, (uintptr_t)from, count, at); }

int fdatasync(int descriptor)
{
    ++calls;
    if (refused) {
        errno = refused;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, descriptor);
}

/* A file of which each has every other run of so many ints; that many processes as there are. */
static MPI_File open_in_turn(const char *phases, int run)
{
    MPI_File file;
    MPI_Datatype type, turn;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", phases);
    MPI_Info_set(info, "romio_cb_read", phases);
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    expect("MPI_File_open", MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file), MPI_SUCCESS);
    MPI_Type_contiguous(run, MPI_INT, &turn);
    MPI_Type_create_resized(turn, 0, run * size * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    const MPI_Offset start = rank * run * (MPI_Offset)sizeof(int);
    expect("MPI_File_set_view", MPI_File_set_view(file, start, MPI_INT, type, "native", info), MPI_SUCCESS);
    MPI_Type_free(&type);
    MPI_Type_free(&turn);
    MPI_Info_free(&info);
    return file;
}

/* All ways of writing and reading have to move everything. */
static void short_calls(void)
{
    const char *const phases[] = { "automatic", "enable", "disable" };
    const int runs[] = { 1, 500, INTS };
    for (int round = 0; round < 18; round++) {
        MPI_File file = open_in_turn(phases[round % 3], runs[round / 3 % 3]);
        const int together = round < 9;
        for (int i = 0; i < INTS; i++) {
            data[i] = (round * 4 + rank) * INTS + i;
            back[i] = -1;
        }
        MPI_Status status;
        int count;
        shortened = 1;
        const long before = calls;
        expect("a write", (together ? MPI_File_write_at_all : MPI_File_write_at)(file, 0, data, INTS, MPI_INT, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &count);
        expect("its count", count == INTS ? MPI_SUCCESS : MPI_ERR_COUNT, MPI_SUCCESS);
        expect("MPI_File_sync", MPI_File_sync(file), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        expect("a read", (together ? MPI_File_read_at_all : MPI_File_read_at)(file, 0, back, INTS, MPI_INT, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &count);
        expect("its count", count == INTS ? MPI_SUCCESS : MPI_ERR_COUNT, MPI_SUCCESS);
        shortened = 0;
        expect("the data", memcmp(back, data, sizeof data) ? MPI_ERR_OTHER : MPI_SUCCESS, MPI_SUCCESS);
        expect("calls that this program made", calls - before > 1 ? MPI_SUCCESS : MPI_ERR_OTHER, MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        expect("MPI_File_close", MPI_File_close(&file), MPI_SUCCESS);
    }
}

/* All of a collective write have the error that one of them has; of a read, and alone, each has its own. */
static void errors(int number, int class)
{
    const char *const phases[] = { "automatic", "enable", "disable" };
    for (int round = 0; round < 6; round++) {
        MPI_File file = open_in_turn(phases[round % 3], round < 3 ? 1 : 5000);
        MPI_Request request;
        expect("a write", MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        refused = number;
        expect("a write together", MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE), class);
        expect("a read together", MPI_File_read_at_all(file, 0, back, INTS, MPI_INT, MPI_STATUS_IGNORE), class);
        expect("a write alone", MPI_File_write_at(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE), class);
        expect("a read alone", MPI_File_read_at(file, 0, back, INTS, MPI_INT, MPI_STATUS_IGNORE), class);
        expect("a nonblocking one", MPI_File_iwrite_at(file, 0, data, INTS, MPI_INT, &request), MPI_SUCCESS);
        expect("its end", MPI_Wait(&request, MPI_STATUS_IGNORE), class);
        expect("a nonblocking one together", MPI_File_iwrite_at_all(file, 0, data, INTS, MPI_INT, &request), MPI_SUCCESS);
        expect("its end", MPI_Wait(&request, MPI_STATUS_IGNORE), class);
        expect("one in two calls", MPI_File_write_at_all_begin(file, 0, data, INTS, MPI_INT), MPI_SUCCESS);
        expect("its end", MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE), class);
        expect("MPI_File_sync", MPI_File_sync(file), class);
        MPI_Barrier(MPI_COMM_WORLD);
        /* One of them alone: the others learn of it where they write together. */
        refused = rank == 0 ? number : 0;
        expect("a write together that one cannot do", MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE), class);
        refused = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        expect("a write when all is well", MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        expect("a read when all is well", MPI_File_read_at_all(file, 0, back, INTS, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        expect("the data", memcmp(back, data, sizeof data) ? MPI_ERR_OTHER : MPI_SUCCESS, MPI_SUCCESS);
        expect("MPI_File_close", MPI_File_close(&file), MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        int number, class;
    } kinds[] = {
        { "EDQUOT", EDQUOT, MPI_ERR_QUOTA }, { "ENOSPC", ENOSPC, MPI_ERR_NO_SPACE }, { "EIO", EIO, MPI_ERR_IO },
        { "ESTALE", ESTALE, MPI_ERR_IO }, { "EROFS", EROFS, MPI_ERR_READ_ONLY },
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/file", argv[2]);
    for (int i = 0; i < INTS; i++)
        data[i] = rank * INTS + i;
    if (strcmp(argv[1], "short") == 0)
        short_calls();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            errors(kinds[i].number, kinds[i].class);
    MPI_Finalize();
    if (rank == 0)
        printf("ok file_faults %s\n", argv[1]);
    return 0;
}
