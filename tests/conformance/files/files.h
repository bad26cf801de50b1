/* What the programs about files share: a name for a file that nobody else has, and what is in it, read without MPI. */
#ifndef WEFT_TESTS_FILES_H
#define WEFT_TESTS_FILES_H

#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char file_name[512];

/* A name beside the program, where processes on all hosts find it, the same on all; there is no such file. */
static inline void name_file(void)
{
    if (rank_of_world == 0) {
        ssize_t length = readlink("/proc/self/exe", file_name, sizeof file_name - 32);
        CHECK(length > 0, "the program's place");
        strcpy(file_name + length, "-XXXXXX");
        int descriptor = mkstemp(file_name);
        CHECK(descriptor >= 0, "a temporary file");
        close(descriptor);
        unlink(file_name);
    }
    MPI_Bcast(file_name, sizeof file_name, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline MPI_File open_file(int amode)
{
    MPI_File file;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name, amode, MPI_INFO_NULL, &file), MPI_SUCCESS, "§14.2.1");
    return file;
}

/* A file that all may read and write, and that is gone when it is closed. */
static inline MPI_File open_scratch(void)
{
    name_file();
    return open_file(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
}

static inline void close_file(MPI_File file)
{
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS, "§14.2.2");
    CHECK(file == MPI_FILE_NULL, "§14.2.2: the handle is null");
}

/* Everybody has written; what each wrote is seen by all. */
static inline void settle_file(MPI_File file)
{
    CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS, "§14.6.1");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS, "§14.6.1");
}

static inline long long size_of_file(MPI_File file)
{
    MPI_Offset size = -1;
    CHECK_CLASS(MPI_File_get_size(file, &size), MPI_SUCCESS, "§14.2.6");
    return size;
}

/* Bytes of the file by its name, from the beginning; how many there were. */
static inline size_t raw_bytes(unsigned char *into, size_t most)
{
    int descriptor = open(file_name, O_RDONLY);
    CHECK(descriptor >= 0, "the file is there");
    size_t done = 0;
    ssize_t got = 1;
    while (done < most && (got = pread(descriptor, into + done, most - done, done)) > 0)
        done += got;
    CHECK(got >= 0, "the file can be read");
    close(descriptor);
    return done;
}

#endif
