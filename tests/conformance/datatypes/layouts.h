/* The constructors of datatypes beside their type maps of int, for programs that check one against the other. */
#ifndef WEFT_TESTS_LAYOUTS_H
#define WEFT_TESTS_LAYOUTS_H

#include "typemap.h"

enum { MOST_INTS = 32768, UNTOUCHED = -77, MOST_BLOCKS = 24 };

static uint32_t draw_state = 2024;
static inline int draw(int below)
{
    draw_state = draw_state * 1664525u + 1013904223u;
    return (int)((draw_state >> 16) % (unsigned)below);
}

/* A type and its type map. */
struct layout {
    MPI_Datatype type;
    struct typemap map;
};

/* Appends a block of `length` copies of `base` that begins `start` bytes from the origin. */
static inline void typemap_block(struct typemap *map, const struct typemap *base, long start, int length)
{
    for (int i = 0; i < length; i++)
        typemap_append(map, base, start + i * typemap_extent(base));
}

/* Blocks that do not overlap, in an order drawn: starts in extents. */
static inline int draw_blocks(int lengths[], int starts[], int equal)
{
    int count = 1 + draw(draw(4) == 0 ? MOST_BLOCKS : 5), at = draw(4);
    for (int i = 0; i < count; i++) {
        lengths[i] = equal ? equal : draw(4);
        starts[i] = at;
        at += lengths[i] + draw(3);
    }
    for (int i = count - 1; i > 0; i--) {
        int other = draw(i + 1), length = lengths[i], start = starts[i];
        lengths[i] = lengths[other], starts[i] = starts[other];
        lengths[other] = length, starts[other] = start;
    }
    return count;
}

static inline MPI_Datatype lists_of_blocks(const struct layout *old, struct typemap *map)
{
    int lengths[MOST_BLOCKS], starts[MOST_BLOCKS], equal = draw(2) ? 1 + draw(3) : 0;
    int count = draw_blocks(lengths, starts, equal);
    long extent = typemap_extent(&old->map);
    MPI_Aint places[MOST_BLOCKS];
    MPI_Count large_lengths[MOST_BLOCKS], large_starts[MOST_BLOCKS], large_places[MOST_BLOCKS];
    MPI_Datatype type;
    for (int i = 0; i < count; i++) {
        large_lengths[i] = lengths[i], large_starts[i] = starts[i];
        large_places[i] = places[i] = starts[i] * extent;
        typemap_block(map, &old->map, places[i], lengths[i]);
    }
    switch (draw(4) + (equal ? 4 : 0)) {
    case 0: MPI_Type_indexed(count, lengths, starts, old->type, &type); break;
    case 1: MPI_Type_indexed_c(count, large_lengths, large_starts, old->type, &type); break;
    case 2: MPI_Type_create_hindexed(count, lengths, places, old->type, &type); break;
    case 3: MPI_Type_create_hindexed_c(count, large_lengths, large_places, old->type, &type); break;
    case 4: MPI_Type_create_indexed_block(count, equal, starts, old->type, &type); break;
    case 5: MPI_Type_create_indexed_block_c(count, equal, large_starts, old->type, &type); break;
    case 6: MPI_Type_create_hindexed_block(count, equal, places, old->type, &type); break;
    default: MPI_Type_create_hindexed_block_c(count, equal, large_places, old->type, &type); break;
    }
    return type;
}

static inline MPI_Datatype structure(const struct layout *old, struct typemap *map)
{
    int lengths[3] = { draw(3), 1 + draw(3), draw(3) };
    long extent = typemap_extent(&old->map), at = old->map.lower;
    MPI_Aint places[3];
    MPI_Count large_lengths[3], large_places[3];
    MPI_Datatype types[3] = { old->type, MPI_INT, old->type }, type;
    static struct typemap integer;
    typemap_of_int(&integer);
    for (int i = 0; i < 3; i++) {
        const struct typemap *base = i == 1 ? &integer : &old->map;
        places[i] = at - base->lower + 4 * draw(3);
        at = places[i] + base->lower + lengths[i] * (i == 1 ? (long)sizeof(int) : extent);
        large_lengths[i] = lengths[i], large_places[i] = places[i];
        typemap_block(map, base, places[i], lengths[i]);
    }
    if (draw(2))
        MPI_Type_create_struct(3, lengths, places, types, &type);
    else
        MPI_Type_create_struct_c(3, large_lengths, large_places, types, &type);
    return type;
}

static inline MPI_Datatype strided(const struct layout *old, struct typemap *map)
{
    int count = draw(5), length = draw(4), stride = length + draw(3), sign = draw(2) ? 1 : -1;
    long extent = typemap_extent(&old->map);
    MPI_Datatype type;
    typemap_clear(map);
    for (int i = 0; i < count; i++)
        typemap_block(map, &old->map, sign * i * stride * extent, length);
    switch (draw(4)) {
    case 0: MPI_Type_vector(count, length, sign * stride, old->type, &type); break;
    case 1: MPI_Type_vector_c(count, length, sign * stride, old->type, &type); break;
    case 2: MPI_Type_create_hvector(count, length, sign * stride * extent, old->type, &type); break;
    default: MPI_Type_create_hvector_c(count, length, sign * stride * extent, old->type, &type); break;
    }
    return type;
}

/* A box in an array of up to three dimensions. */
static inline MPI_Datatype subarray(const struct layout *old, struct typemap *map)
{
    int dimensions = 1 + draw(3), order = draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int sizes[3], parts[3], starts[3], elements = 1;
    MPI_Count large[3][3];
    long extent = typemap_extent(&old->map);
    MPI_Datatype type;
    for (int i = 0; i < dimensions; i++) {
        parts[i] = 1 + draw(3), starts[i] = draw(3);
        sizes[i] = starts[i] + parts[i] + draw(2);
        large[0][i] = sizes[i], large[1][i] = parts[i], large[2][i] = starts[i];
        elements *= sizes[i];
    }
    for (int element = 0; element < elements; element++) {
        int inside = 1, rest = element;
        for (int k = dimensions - 1; k >= 0; k--) {
            int i = order == MPI_ORDER_C ? k : dimensions - 1 - k;
            int index = rest % sizes[i];
            rest /= sizes[i];
            inside &= index >= starts[i] && index < starts[i] + parts[i];
        }
        if (inside)
            typemap_append(map, &old->map, element * extent);
    }
    map->lower = 0, map->upper = elements * extent, map->set = 1;
    if (draw(2))
        MPI_Type_create_subarray(dimensions, sizes, parts, starts, order, old->type, &type);
    else
        MPI_Type_create_subarray_c(dimensions, large[0], large[1], large[2], order, old->type, &type);
    return type;
}

static inline MPI_Datatype resized(const struct layout *old, struct typemap *map)
{
    long more = 4 * draw(3), lower = old->map.lower - 4 * draw(3);
    MPI_Datatype type;
    *map = old->map;
    map->lower = lower, map->upper = old->map.upper + more, map->set = 1;
    if (draw(2))
        MPI_Type_create_resized(old->type, lower, typemap_extent(map), &type);
    else
        MPI_Type_create_resized_c(old->type, lower, typemap_extent(map), &type);
    return type;
}

/* A type by a random constructor on `old`. */
static inline void draw_type(struct layout *layout, const struct layout *old)
{
    typemap_clear(&layout->map);
    int kind = old->map.entries == 0 ? 0 : draw(8);
    switch (kind) {
    case 0: MPI_Type_dup(old->type, &layout->type); layout->map = old->map; break;
    case 1: MPI_Type_contiguous(2, old->type, &layout->type); typemap_block(&layout->map, &old->map, 0, 2); break;
    case 2: layout->type = strided(old, &layout->map); break;
    case 3: layout->type = structure(old, &layout->map); break;
    case 4: layout->type = subarray(old, &layout->map); break;
    case 5: layout->type = resized(old, &layout->map); break;
    default: layout->type = lists_of_blocks(old, &layout->map); break;
    }
}

/* A committed type of one to three levels on MPI_INT. */
static inline void draw_nested(struct layout *layout)
{
    static struct layout old;
    int levels = 1 + draw(3);
    layout->type = MPI_INT;
    typemap_of_int(&layout->map);
    for (int level = 0; level < levels; level++) {
        old = *layout;
        if (old.map.entries > 40 || old.map.upper - old.map.lower > 4096)
            break;
        draw_type(layout, &old);
        if (old.type != MPI_INT)
            MPI_Type_free(&old.type);
    }
    if (layout->type == MPI_INT)
        MPI_Type_dup(MPI_INT, &layout->type);
    MPI_Type_commit(&layout->type);
}

/* The int that the k-th entry of the e-th element names, counted from the middle of a buffer of MOST_INTS. */
static inline long place(const struct typemap *map, int element, int k)
{
    return MOST_INTS / 2 + (element * typemap_extent(map) + map->displacements[k]) / (long)sizeof(int);
}

/* Whether `elements` of the type lie within such a buffer, no int twice. */
static inline int fits(const struct typemap *map, int elements)
{
    static int seen[MOST_INTS], look = 0;
    look++;
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < map->entries; k++) {
            long at = place(map, e, k);
            if (at < 0 || at >= MOST_INTS || seen[at] == look)
                return 0;
            seen[at] = look;
        }
    return 1;
}

static inline void fill_untouched(int *spread)
{
    for (int i = 0; i < MOST_INTS; i++)
        spread[i] = UNTOUCHED;
}

/* Holds the elements to have the ints `value(0)`, `value(1)`, ... in type map order, and nothing else to be touched;
 * only the first `limit` of them to have arrived. */
static inline void check_spread(int *spread, const struct typemap *map, int elements, int limit, int first)
{
    int index = 0;
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < map->entries && index < limit; k++, index++) {
            CHECK_EQUAL(spread[place(map, e, k)], first + index, "MPI-5.0 §5.1.11");
            spread[place(map, e, k)] = UNTOUCHED;
        }
    for (int i = 0; i < MOST_INTS; i++)
        CHECK(spread[i] == UNTOUCHED, "MPI-5.0 §5.1.11: nothing else is written", "at %d", i);
}

/* Sets the ints of the elements to first, first + 1, ... in type map order. */
static inline void fill_spread(int *spread, const struct typemap *map, int elements, int first)
{
    fill_untouched(spread);
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < map->entries; k++)
            spread[place(map, e, k)] = first++;
}

#endif
