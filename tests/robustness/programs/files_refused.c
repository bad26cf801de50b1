/* files_refused full FOLDER: the folder's file system has room for 1 MiB. files_refused read-only FOLDER: it holds a file `file` and
 * cannot be written. Rank 0 prints "ok files_refused CASE" when all calls had the errors that MPI-5.0 §14.7 has for that. */
#include "expect.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTS = 1 << 18 }; /* 1 MiB of each process */

static int rank, size, data[INTS];
static char path[4096];

static MPI_File open_as(const char *name, int mode)
{
    MPI_File file;
    sprintf(path + strlen(path), "/%s", name);
    expect("MPI_File_open", MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file), MPI_SUCCESS);
    *strrchr(path, '/') = 0;
    return file;
}

/* All write ints in turn, or each a block of its own. */
static void set_view(MPI_File file, int in_turn, const char *phases)
{
    MPI_Datatype type;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", phases);
    MPI_Type_create_resized(MPI_INT, 0, in_turn ? size * (MPI_Aint)sizeof(int) : (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Offset start = in_turn ? rank * (MPI_Offset)sizeof(int) : rank * (MPI_Offset)sizeof data;
    expect("MPI_File_set_view", MPI_File_set_view(file, start, MPI_INT, type, "native", info), MPI_SUCCESS);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
}

static void full(void)
{
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_Request request;
    for (int round = 0; round < 6; round++) {
        const char *phases = round % 3 == 0 ? "automatic" : round % 3 == 1 ? "enable" : "disable";
        MPI_File file = open_as("many", mode);
        set_view(file, 1, phases);
        if (round < 3) {
            int code = MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE);
            expect("a collective write", code, MPI_ERR_NO_SPACE);
        } else {
            expect("a nonblocking one", MPI_File_iwrite_at_all(file, 0, data, INTS, MPI_INT, &request), MPI_SUCCESS);
            expect("its end", MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
        }
        expect("MPI_File_close", MPI_File_close(&file), MPI_SUCCESS);
    }
    /* Alone: the last process's lies beyond the end in any case. */
    MPI_File file = open_as("one", mode);
    set_view(file, 0, "automatic");
    if (rank == 0) {
        expect("room for it", MPI_File_write_at(file, 0, data, INTS / 2, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        expect("no room", MPI_File_write_at(file, INTS / 4, data, INTS, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
        expect("nonblocking", MPI_File_iwrite_at(file, INTS / 4, data, INTS, MPI_INT, &request), MPI_SUCCESS);
        expect("its end", MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect("MPI_File_preallocate", MPI_File_preallocate(file, 8 << 20), MPI_ERR_NO_SPACE);
    expect("MPI_File_close", MPI_File_close(&file), MPI_SUCCESS);
    /* Now there is room. */
    file = open_as("after", mode);
    set_view(file, 1, "enable");
    int count = INTS / size / 2, *back = malloc(count * sizeof(int));
    expect("a write", MPI_File_write_at_all(file, 0, data, count, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect("a read", MPI_File_read_at_all(file, 0, back, count, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (memcmp(back, data, count * sizeof(int)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    free(back);
    expect("MPI_File_close", MPI_File_close(&file), MPI_SUCCESS);
}

static void read_only(void)
{
    MPI_File file;
    char name[sizeof path + 8], text[5];
    sprintf(name, "%s/file", path);
    const int modes[] = { MPI_MODE_RDWR, MPI_MODE_WRONLY, MPI_MODE_CREATE | MPI_MODE_RDWR };
    for (int i = 0; i < 3; i++)
        expect("opening for writing", MPI_File_open(MPI_COMM_WORLD, name, modes[i], MPI_INFO_NULL, &file), MPI_ERR_READ_ONLY);
    expect("MPI_File_open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_SUCCESS);
    expect("a read", MPI_File_read_at_all(file, 0, text, 5, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect("a write", MPI_File_write_at(file, 0, text, 5, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    expect("a collective write", MPI_File_write_at_all(file, 0, text, 5, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    expect("MPI_File_close", MPI_File_close(&file), MPI_SUCCESS);
    expect("MPI_File_delete", MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_READ_ONLY);
    sprintf(name, "%s/none", path);
    expect("MPI_File_open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    strcpy(path, argv[2]);
    for (int i = 0; i < INTS; i++)
        data[i] = rank * INTS + i;
    if (strcmp(argv[1], "full") == 0)
        full();
    else
        read_only();
    MPI_Finalize();
    if (rank == 0)
        printf("ok files_refused %s\n", argv[1]);
    return 0;
}
