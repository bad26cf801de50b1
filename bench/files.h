/* What the benchmarks of files share: one file, in which each word of 8 bytes tells where it lies and how often the contents have
 * changed. Words that are written are read back by bare system calls, words that are read were written by those. On one machine
 * both see the same file at once, whatever a library has yet to put on the device; one that kept data to itself would fail. */
#ifndef WEFT_BENCH_FILES_H
#define WEFT_BENCH_FILES_H

#include "ranks.h"
#include <fcntl.h>
#include <unistd.h>

typedef int64_t word; /* of a file, by number; or of a rank's memory */

enum { WORD = sizeof(uint64_t), NAME_MAX_BYTES = 4096, SPAN_WORDS = 1 << 17 };

struct file {
    const char *bench;
    char name[NAME_MAX_BYTES];
    MPI_File handle;
    int descriptor;
    word words;       /* that all ranks write together */
    uint64_t version; /* of the contents */
};

static inline void must(int outcome, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (outcome == MPI_SUCCESS)
        return;
    MPI_Error_string(outcome, text, &length);
    fail("%s: %s", what, text);
}

static inline uint64_t content(word at, uint64_t version)
{
    uint64_t state = (uint64_t)at * 0xd1342543de82ef95u + version;
    return random_next(&state);
}

/* Makes the file that all ranks have open, by MPI and by the operating system. */
static inline struct file open_file(const char *bench, const char *folder)
{
    struct file f = {.bench = bench};
    int length = snprintf(f.name, sizeof f.name, "%s/weft-bench-%s-%ld", folder, bench, (long)getpid());
    if (length >= (int)sizeof f.name)
        fail("%s: the folder's name is too long", bench);
    MPI_Bcast(f.name, sizeof f.name, MPI_CHAR, 0, MPI_COMM_WORLD);
    must(MPI_File_open(MPI_COMM_WORLD, f.name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f.handle), f.name);
    f.descriptor = open(f.name, O_RDWR);
    if (f.descriptor < 0)
        fail("%s: cannot be opened", f.name);
    return f;
}

static inline void close_file(struct file *f)
{
    close(f->descriptor);
    must(MPI_File_close(&f->handle), "MPI_File_close");
    if (my_rank == 0)
        unlink(f->name);
}

/* All of the bytes, by as many system calls as that takes. */
static inline void raw_write(const struct file *f, const void *data, size_t bytes, off_t at)
{
    for (const char *from = data; bytes;) {
        ssize_t done = pwrite(f->descriptor, from, bytes, at);
        if (done <= 0)
            fail("%s: pwrite at %lld: %m", f->name, (long long)at);
        from += done, at += done, bytes -= (size_t)done;
    }
}

static inline void raw_read(const struct file *f, void *data, size_t bytes, off_t at)
{
    for (char *to = data; bytes;) {
        ssize_t done = pread(f->descriptor, to, bytes, at);
        if (done <= 0)
            fail("%s: pread at %lld: %s", f->name, (long long)at, done ? "failed" : "the file ends before");
        to += done, at += done, bytes -= (size_t)done;
    }
}

/* Calls `visit` with the words of this rank's share of the file, some at a time. */
static inline void share_of(struct file *f, void (*visit)(struct file *, uint64_t *, word from, word count))
{
    static uint64_t span[SPAN_WORDS];
    word share = (f->words + rank_count - 1) / rank_count, from = share * my_rank, end = from + share;
    for (end = end < f->words ? end : f->words; from < end; from += SPAN_WORDS)
        visit(f, span, from, end - from < SPAN_WORDS ? end - from : SPAN_WORDS);
}

static inline void put_words(struct file *f, uint64_t *span, word from, word count)
{
    for (word i = 0; i < count; i++)
        span[i] = content(from + i, f->version);
    raw_write(f, span, (size_t)count * WORD, from * WORD);
}

static inline void compare_words(struct file *f, uint64_t *span, word from, word count)
{
    raw_read(f, span, (size_t)count * WORD, from * WORD);
    for (word i = 0; i < count; i++)
        if (span[i] != content(from + i, f->version))
            fail("%s: wrong data in the file at byte %lld", f->bench, (long long)(from + i) * WORD);
}

/* Takes the file's contents away: what is to be written will be new. */
static inline void empty_file(struct file *f)
{
    f->version++;
    if (my_rank == 0 && ftruncate(f->descriptor, 0))
        fail("%s: cannot be emptied", f->name);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Gives the file new contents, in pages that are new too, whatever has written the file before. */
static inline void renew_file(struct file *f)
{
    empty_file(f);
    share_of(f, put_words);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Looks at every byte of the file, when all ranks have written. It is on the device then: a file that has no blocks there yet would
 * take longer to write, for a while. */
static inline void check_file(struct file *f)
{
    MPI_Barrier(MPI_COMM_WORLD);
    share_of(f, compare_words);
    if (my_rank == 0 && fdatasync(f->descriptor))
        fail("%s: cannot be put on the device", f->name);
    MPI_Barrier(MPI_COMM_WORLD);
}
#endif
