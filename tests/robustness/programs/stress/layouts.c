/* Layouts: contiguous, a vector, an irregular block repeated, rows of a matrix; filled and checked byte by byte. */
#include "stress.h"

enum { CONTIGUOUS, STRIDED, IRREGULAR, ROWS, FORMS };
enum { BLANK = 0xEE };

/* Data come in units of 16 bytes. A unit takes, of so many bytes of memory: */
static const size_t unit_spans[FORMS] = { 16, 40, 24, 32 };

static size_t position(int form, size_t index)
{
    size_t unit = index / 16 * unit_spans[form], within = index % 16;
    switch (form) {
    case IRREGULAR: /* blocks of 3, 5 and 8 bytes, at 0, 4 and 12 */
        return unit + within + (within >= 3) + (within >= 8) * 3;
    default:
        return unit + within;
    }
}

struct layout draw_layout(struct worker *worker, size_t bytes)
{
    int form = below(&worker->together, 2 * FORMS);
    struct layout layout = { form < FORMS && bytes % 16 == 0 ? form : CONTIGUOUS, bytes, bytes };
    if (layout.form != CONTIGUOUS)
        layout.span = bytes / 16 * unit_spans[layout.form];
    return layout;
}

/* The caller frees the type at once: what was started with it goes on (MPI-5.0 §5.1.9). */
void create_layout(const struct layout *layout, MPI_Datatype *type, int *count)
{
    int units = (int)(layout->bytes / 16);
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    *count = 1;
    switch (units ? layout->form : CONTIGUOUS) {
    case STRIDED:
        MPI_Type_vector(units, 16, 40, MPI_BYTE, type);
        break;
    case IRREGULAR:
        MPI_Type_indexed(3, (int[]){ 3, 5, 8 }, (int[]){ 0, 4, 12 }, MPI_BYTE, &inner);
        MPI_Type_create_resized(inner, 0, 24, type);
        MPI_Type_free(&inner);
        *count = units;
        break;
    case ROWS:
        MPI_Type_create_subarray(2, (int[]){ units, 32 }, (int[]){ units, 16 }, (int[]){ 0, 0 }, MPI_ORDER_C, MPI_BYTE, type);
        break;
    default:
        MPI_Type_dup(MPI_BYTE, type);
        *count = (int)layout->bytes;
    }
    MPI_Type_commit(type);
}

void blank(const struct layout *layout, unsigned char *memory) { memset(memory, BLANK, layout->span); }

void fill(const struct layout *layout, unsigned char *memory, uint32_t seed)
{
    if (layout->form == CONTIGUOUS) {
        for (size_t i = 0; i < layout->bytes; i++)
            memory[i] = pattern(i, seed);
        return;
    }
    blank(layout, memory);
    for (size_t i = 0; i < layout->bytes; i++)
        memory[position(layout->form, i)] = pattern(i, seed);
}

int holds(const struct layout *layout, const unsigned char *memory, uint32_t seed)
{
    size_t next = 0;
    for (size_t i = 0; i < layout->bytes; i++) {
        size_t at = position(layout->form, i);
        for (; next < at; next++)
            if (memory[next] != BLANK)
                return 0;
        if (memory[at] != pattern(i, seed))
            return 0;
        next = at + 1;
    }
    for (; next < layout->span; next++)
        if (memory[next] != BLANK)
            return 0;
    return 1;
}
