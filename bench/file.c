/* file: MB/s of all ranks together between their memory and one file. Each rank has BYTES of it, in pieces of N bytes that are dealt
 * out to ranks in turn; where N is BYTES each has one piece, and access is contiguous. The view is set once. `raw` is pwrite and pread
 * of the same pieces, a call each: what the machine gives a program that knows no MPI-IO. Files stay in the page cache. */
#include "files.h"

enum { BYTES = 16 << 20 };

struct work {
    struct file *file;
    long long piece;
    unsigned char *data;
    void (*access)(struct work *);
};

static void write_all(struct work *w)
{
    must(MPI_File_write_at_all(w->file->handle, 0, w->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_at_all");
}

static void read_all(struct work *w)
{
    must(MPI_File_read_at_all(w->file->handle, 0, w->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at_all");
}

static void write_alone(struct work *w)
{
    must(MPI_File_write_at(w->file->handle, 0, w->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_at");
}

static void read_alone(struct work *w)
{
    must(MPI_File_read_at(w->file->handle, 0, w->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at");
}

/* Where a byte of this rank's lies in the file. */
static off_t place(const struct work *w, long long at)
{
    return (at / w->piece * rank_count + my_rank) * w->piece + at % w->piece;
}

static void write_raw(struct work *w)
{
    for (long long at = 0; at < BYTES; at += w->piece)
        raw_write(w->file, w->data + at, (size_t)w->piece, place(w, at));
}

static void read_raw(struct work *w)
{
    for (long long at = 0; at < BYTES; at += w->piece)
        raw_read(w->file, w->data + at, (size_t)w->piece, place(w, at));
}

static const struct kind {
    const char *name;
    void (*access)(struct work *);
    bool writes;
} kinds[] = {
    {"write-all", write_all, true}, {"read-all", read_all, false}, {"write", write_alone, true},
    {"read", read_alone, false},    {"raw-write", write_raw, true}, {"raw-read", read_raw, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Writing is over when all ranks' is. */
static void repeat(void *state, long repetitions)
{
    struct work *w = state;
    for (long i = 0; i < repetitions; i++)
        w->access(w);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fill_data(struct work *w)
{
    uint64_t *words = (uint64_t *)w->data;
    for (word i = 0; i < BYTES / WORD; i++)
        words[i] = content(place(w, i * WORD) / WORD, w->file->version);
}

static void check_data(struct work *w)
{
    const uint64_t *words = (const uint64_t *)w->data;
    for (word i = 0; i < BYTES / WORD; i++)
        if (words[i] != content(place(w, i * WORD) / WORD, w->file->version))
            fail("file: rank %d read wrong data at byte %lld", my_rank, (long long)i * WORD);
}

static void check(const struct kind *kind, struct work *w)
{
    if (kind->writes)
        check_file(w->file);
    else
        check_data(w);
}

static void measure_kind(const struct kind *kind, struct work *w, double seconds)
{
    static struct sampler s;
    w->access = kind->access;
    if (kind->writes) {
        empty_file(w->file);
        fill_data(w);
    } else {
        renew_file(w->file);
        memset(w->data, 0, BYTES);
    }
    repeat(w, 1);
    check(kind, w);
    measure(repeat, w, seconds, &s);
    check(kind, w);
    if (my_rank == 0)
        print_rate("file", kind->name, w->piece, "MB/s", &s, 1e-6 * BYTES * rank_count);
}

static void set_view(struct work *w)
{
    MPI_Datatype pieces;
    MPI_Type_vector((int)(BYTES / w->piece), (int)w->piece, (int)w->piece * rank_count, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    must(MPI_File_set_view(w->file->handle, my_rank * w->piece, MPI_BYTE, pieces, "native", MPI_INFO_NULL), "MPI_File_set_view");
    MPI_Type_free(&pieces);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes", "16M,4K,256,16", 0.25);
    start(&argc, &argv, "file", MPI_THREAD_SINGLE, 0);
    struct file file = open_file("file", o.folder);
    file.words = (word)BYTES / WORD * rank_count;
    struct work work = {.file = &file, .data = pages(BYTES)};
    for (int i = 0; i < o.count; i++) {
        work.piece = o.points[i];
        if (work.piece < WORD || work.piece > BYTES || BYTES % work.piece || work.piece % WORD)
            fail("file: pieces are powers of 2 from %d to %d bytes", WORD, BYTES);
        set_view(&work);
        for (int j = 0; j < KINDS; j++)
            measure_kind(&kinds[j], &work, o.seconds);
    }
    close_file(&file);
    free(work.data);
    MPI_Finalize();
    return 0;
}
