/* file-patterns: what programs write in one file, by all ranks together: the time to make the types and set the view, MB/s of one
 * collective write and read, and by how much that raised a rank's memory at its peak.
 *   bt           NAS BTIO: a cube of cells of 5 doubles; a rank has sqrt(ranks) blocks of it, on diagonals, with ghost cells in memory
 *   checkpoint   a cube of doubles, a block of it for each rank
 *   pieces       10^6 pieces of 16 bytes a rank, at places in no order that a stride could tell */
#include "files.h"
#include <malloc.h>

enum {
    BT_SIDE = 96, /* cells; divisible by 1 to 4 */
    BT_WORDS = 5, /* of a cell */
    GHOSTS = 2,
    CUBE_SIDE = 192,
    PIECES = 1000000,
    PIECE_WORDS = 2,
    DIMENSIONS = 3,
    SIDES_MAX = 4 /* blocks of a rank in `bt` */
};

struct pattern {
    const char *name;
    /* Prepares: `words`, `file_words` and what the others need. */
    void (*shape)(struct pattern *);
    void (*make_types)(struct pattern *);
    /* Where a word of memory lies in the file; -1 for those that are in no file. */
    word (*place)(const struct pattern *, word);
    word words, file_words; /* of a rank's memory, of the file */
    int side, blocks;       /* `bt`: cells along a block; blocks of a rank */
    int starts[SIDES_MAX][DIMENSIONS];
    int sizes[DIMENSIONS], start[DIMENSIONS]; /* `checkpoint` */
    int *displacements;                       /* `pieces` */
    MPI_Datatype in_memory, in_file;
    struct file *file;
    uint64_t *data;
};

/* ---- bt ---- */

static void bt_shape(struct pattern *p)
{
    int n = 1;
    while (n * n < rank_count)
        n++;
    if (n * n != rank_count || n > SIDES_MAX)
        fail("file-patterns: bt runs on 1, 4, 9 or 16 ranks, not on %d", rank_count);
    p->blocks = n;
    p->side = BT_SIDE / n;
    for (int b = 0; b < n; b++) {
        int at[DIMENSIONS] = {b, (my_rank / n + b) % n, (my_rank % n + b) % n};
        for (int d = 0; d < DIMENSIONS; d++)
            p->starts[b][d] = at[d] * p->side;
    }
    word padded = p->side + 2 * GHOSTS;
    p->words = p->blocks * padded * padded * padded * BT_WORDS;
    p->file_words = (word)BT_SIDE * BT_SIDE * BT_SIDE * BT_WORDS;
}

static word bt_place(const struct pattern *p, word at)
{
    word padded = p->side + 2 * GHOSTS, cell = at / BT_WORDS, offset = 0;
    const int *start = p->starts[cell / (padded * padded * padded)];
    word along[DIMENSIONS] = {cell / (padded * padded) % padded, cell / padded % padded, cell % padded};
    for (int d = 0; d < DIMENSIONS; d++) {
        word inside = along[d] - GHOSTS;
        if (inside < 0 || inside >= p->side)
            return -1;
        offset = offset * BT_SIDE + start[d] + inside;
    }
    return offset * BT_WORDS + at % BT_WORDS;
}

static void bt_types(struct pattern *p)
{
    int padded = p->side + 2 * GHOSTS;
    int whole[DIMENSIONS] = {BT_SIDE, BT_SIDE, BT_SIDE}, block[DIMENSIONS] = {p->side, p->side, p->side};
    int around[DIMENSIONS] = {padded, padded, padded}, ghosts[DIMENSIONS] = {GHOSTS, GHOSTS, GHOSTS}, lengths[SIDES_MAX];
    MPI_Aint in_memory[SIDES_MAX], in_file[SIDES_MAX];
    MPI_Datatype cell, inner, placed[SIDES_MAX], inners[SIDES_MAX];
    MPI_Type_contiguous(BT_WORDS, MPI_DOUBLE, &cell);
    MPI_Type_create_subarray(DIMENSIONS, around, block, ghosts, MPI_ORDER_C, cell, &inner);
    for (int b = 0; b < p->blocks; b++) {
        lengths[b] = 1;
        in_file[b] = 0;
        in_memory[b] = (MPI_Aint)b * padded * padded * padded * BT_WORDS * WORD;
        inners[b] = inner;
        MPI_Type_create_subarray(DIMENSIONS, whole, block, p->starts[b], MPI_ORDER_C, cell, &placed[b]);
    }
    MPI_Type_create_struct(p->blocks, lengths, in_file, placed, &p->in_file);
    MPI_Type_create_struct(p->blocks, lengths, in_memory, inners, &p->in_memory);
    for (int b = 0; b < p->blocks; b++)
        MPI_Type_free(&placed[b]);
    MPI_Type_free(&inner);
    MPI_Type_free(&cell);
}

/* ---- checkpoint ---- */

/* The fastest dimension is divided first: pieces are short. */
static void checkpoint_shape(struct pattern *p)
{
    int counts[DIMENSIONS] = {0};
    MPI_Dims_create(rank_count, DIMENSIONS, counts);
    int rest = my_rank;
    p->words = 1;
    p->file_words = (word)CUBE_SIDE * CUBE_SIDE * CUBE_SIDE;
    for (int d = 0; d < DIMENSIONS; d++) {
        int count = counts[DIMENSIONS - 1 - d];
        if (CUBE_SIDE % count)
            fail("file-patterns: a side of %d is not divided by %d", CUBE_SIDE, count);
        p->sizes[d] = CUBE_SIDE / count;
        p->start[d] = rest % count * p->sizes[d];
        p->words *= p->sizes[d];
        rest /= count;
    }
}

static word checkpoint_place(const struct pattern *p, word at)
{
    word along[DIMENSIONS] = {at / p->sizes[2] / p->sizes[1], at / p->sizes[2] % p->sizes[1], at % p->sizes[2]}, offset = 0;
    for (int d = 0; d < DIMENSIONS; d++)
        offset = offset * CUBE_SIDE + p->start[d] + along[d];
    return offset;
}

static void checkpoint_types(struct pattern *p)
{
    int whole[DIMENSIONS] = {CUBE_SIDE, CUBE_SIDE, CUBE_SIDE};
    MPI_Type_create_subarray(DIMENSIONS, whole, p->sizes, p->start, MPI_ORDER_C, MPI_DOUBLE, &p->in_file);
    MPI_Type_contiguous((int)p->words, MPI_DOUBLE, &p->in_memory);
}

/* ---- pieces ---- */

/* Of each row of as many places as there are ranks, every rank has one, dealt out anew in each row. */
static void pieces_shape(struct pattern *p)
{
    uint64_t seed = 1;
    int *dealt = pages((size_t)rank_count * sizeof *dealt);
    p->displacements = pages(PIECES * sizeof *p->displacements);
    for (int r = 0; r < rank_count; r++)
        dealt[r] = r;
    for (int i = 0; i < PIECES; i++) {
        for (int r = rank_count - 1; r > 0; r--) {
            int other = (int)(random_next(&seed) % (uint64_t)(r + 1)), kept = dealt[r];
            dealt[r] = dealt[other];
            dealt[other] = kept;
        }
        p->displacements[i] = i * rank_count + dealt[my_rank];
    }
    p->words = (word)PIECES * PIECE_WORDS;
    p->file_words = p->words * rank_count;
    free(dealt);
}

static word pieces_place(const struct pattern *p, word at)
{
    return (word)p->displacements[at / PIECE_WORDS] * PIECE_WORDS + at % PIECE_WORDS;
}

static void pieces_types(struct pattern *p)
{
    MPI_Datatype piece;
    MPI_Type_contiguous(PIECE_WORDS, MPI_DOUBLE, &piece);
    MPI_Type_create_indexed_block(PIECES, 1, p->displacements, piece, &p->in_file);
    MPI_Type_contiguous((int)p->words, MPI_DOUBLE, &p->in_memory);
    MPI_Type_free(&piece);
}

static const struct pattern patterns[] = {
    {.name = "bt", .shape = bt_shape, .make_types = bt_types, .place = bt_place},
    {.name = "checkpoint", .shape = checkpoint_shape, .make_types = checkpoint_types, .place = checkpoint_place},
    {.name = "pieces", .shape = pieces_shape, .make_types = pieces_types, .place = pieces_place},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* ---- memory ---- */

/* A line of /proc/self/status, in KiB. */
static long memory_kib(const char *field)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, field, strlen(field)))
            kib = atol(line + strlen(field));
    if (status)
        fclose(status);
    if (kib < 0)
        fail("file-patterns: /proc/self/status does not tell %s", field);
    return kib;
}

/* From here on the peak is counted anew. */
static void forget_peak(void)
{
    int clear = open("/proc/self/clear_refs", O_WRONLY);
    if (clear < 0 || write(clear, "5", 1) != 1)
        fail("file-patterns: the kernel does not forget a process's peak of memory");
    close(clear);
}

/* ---- what is measured ---- */

static void fill(struct pattern *p, bool with_data)
{
    for (word i = 0; i < p->words; i++) {
        word at = p->place(p, i);
        p->data[i] = at < 0 || !with_data ? ~(uint64_t)i : content(at, p->file->version);
    }
}

static void check_data(struct pattern *p)
{
    for (word i = 0; i < p->words; i++) {
        word at = p->place(p, i);
        if (p->data[i] != (at < 0 ? ~(uint64_t)i : content(at, p->file->version)))
            fail("file-patterns: %s: wrong data in memory at word %lld", p->name, (long long)i);
    }
}

static void make_view(struct pattern *p)
{
    p->make_types(p);
    MPI_Type_commit(&p->in_file);
    MPI_Type_commit(&p->in_memory);
    must(MPI_File_set_view(p->file->handle, 0, MPI_DOUBLE, p->in_file, "native", MPI_INFO_NULL), "MPI_File_set_view");
}

static void free_types(struct pattern *p)
{
    MPI_Type_free(&p->in_file);
    MPI_Type_free(&p->in_memory);
}

static void set_views(void *state, long repetitions)
{
    for (long i = 0; i < repetitions; i++) {
        make_view(state);
        free_types(state);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_all(void *state, long repetitions)
{
    struct pattern *p = state;
    for (long i = 0; i < repetitions; i++)
        must(MPI_File_write_at_all(p->file->handle, 0, p->data, 1, p->in_memory, MPI_STATUS_IGNORE), "MPI_File_write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_all(void *state, long repetitions)
{
    struct pattern *p = state;
    for (long i = 0; i < repetitions; i++)
        must(MPI_File_read_at_all(p->file->handle, 0, p->data, 1, p->in_memory, MPI_STATUS_IGNORE), "MPI_File_read_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
}

static const char *series_of(const struct pattern *p, const char *what)
{
    static char name[64];
    snprintf(name, sizeof name, "%s-%s", p->name, what);
    return name;
}

/* The first write and read of a view, and what they took of memory; all checked. */
static void measure_memory(struct pattern *p)
{
    malloc_trim(0); /* what was freed before is not there to be taken again */
    forget_peak();
    long before = memory_kib("VmRSS:"), grown, largest;
    empty_file(p->file);
    make_view(p);
    write_all(p, 1);
    read_all(p, 1);
    grown = memory_kib("VmHWM:") - before;
    MPI_Reduce(&grown, &largest, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    struct spread kib = {(double)largest, (double)largest, (double)largest};
    if (my_rank == 0)
        print_spread("file-patterns", series_of(p, "memory"), rank_count, "KiB", kib, 1);
}

static void print_megabytes(const struct pattern *p, const char *what, struct sampler *s)
{
    if (my_rank == 0)
        print_rate("file-patterns", series_of(p, what), rank_count, "MB/s", s, 1e-6 * (double)p->file_words * WORD);
}

static void measure_pattern(struct pattern *p, double seconds)
{
    static struct sampler s;
    p->shape(p);
    p->file->words = p->file_words;
    p->data = pages((size_t)p->words * WORD);
    p->file->version++;
    fill(p, true);
    measure_memory(p);
    free_types(p);
    measure(set_views, p, seconds, &s);
    if (my_rank == 0)
        print_time("file-patterns", series_of(p, "view"), rank_count, "ms", &s, 1e3);
    make_view(p);
    empty_file(p->file);
    fill(p, true);
    measure(write_all, p, seconds, &s);
    check_file(p->file);
    print_megabytes(p, "write", &s);
    renew_file(p->file);
    fill(p, false);
    measure(read_all, p, seconds, &s);
    check_data(p);
    print_megabytes(p, "read", &s);
    free_types(p);
    free(p->data);
    free(p->displacements);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "patterns", "0", 0.5);
    start(&argc, &argv, "file-patterns", MPI_THREAD_SINGLE, 0);
    struct file file = open_file("file-patterns", o.folder);
    for (int i = 0; i < PATTERNS; i++) {
        struct pattern pattern = patterns[i];
        pattern.file = &file;
        measure_pattern(&pattern, o.seconds);
    }
    close_file(&file);
    MPI_Finalize();
    return 0;
}
