/* file: MB/s of all ranks together between their memory and one file. Each rank has BYTES of it, in pieces of N bytes that are dealt
 * out to ranks in turn; where N is BYTES each has one piece, and access is contiguous. The view is set once. `raw` is pwrite and pread
 * of the same pieces, a call each: what the machine gives a program that knows no MPI-IO. Files stay in the page cache.
 *
 * The kinds that write take turns, batch by batch, and so do those that read: on the same pages, which were written in long rows. */
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
} writing[] = {{"write-all", write_all}, {"write", write_alone}, {"raw-write", write_raw}},
  reading[] = {{"read-all", read_all}, {"read", read_alone}, {"raw-read", read_raw}};
enum { KINDS = sizeof writing / sizeof writing[0] };
_Static_assert(KINDS == sizeof reading / sizeof reading[0], "as many kinds read as write");

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

static void measure_kinds(const struct kind kinds[], const struct work *common, double seconds)
{
    static struct sampler samplers[KINDS];
    struct work works[KINDS];
    void *states[KINDS];
    for (int i = 0; i < KINDS; i++) {
        works[i] = *common;
        works[i].access = kinds[i].access;
        states[i] = &works[i];
    }
    measure_in_turn(repeat, states, KINDS, seconds, samplers);
    for (int i = 0; i < KINDS && my_rank == 0; i++)
        print_rate("file", kinds[i].name, common->piece, "MB/s", &samplers[i], 1e-6 * BYTES * rank_count);
}

/* Each kind writes a file that is empty, and is checked, before all are measured. */
static void measure_writing(struct work *w, double seconds)
{
    for (int i = 0; i < KINDS; i++) {
        empty_file(w->file);
        fill_data(w);
        writing[i].access(w);
        check_file(w->file);
    }
    renew_file(w->file);
    fill_data(w);
    check_file(w->file);
    measure_kinds(writing, w, seconds);
    check_file(w->file);
}

static void measure_reading(struct work *w, double seconds)
{
    renew_file(w->file);
    for (int i = 0; i < KINDS; i++) {
        memset(w->data, 0, BYTES);
        reading[i].access(w);
        check_data(w);
    }
    measure_kinds(reading, w, seconds);
    check_data(w);
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
        measure_writing(&work, o.seconds);
        measure_reading(&work, o.seconds);
    }
    close_file(&file);
    free(work.data);
    MPI_Finalize();
    return 0;
}
