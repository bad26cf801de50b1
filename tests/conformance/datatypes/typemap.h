/* An oracle for derived datatypes: the type map written out, displacement by displacement. */
#ifndef WEFT_TESTS_TYPEMAP_H
#define WEFT_TESTS_TYPEMAP_H

#include "check.h"

enum { MOST_ENTRIES = 4096 };

/* Displacements in bytes of the int of a type map, in its order, and the bounds. */
struct typemap {
    int entries;
    long displacements[MOST_ENTRIES];
    long lower, upper; /* meaningless while there is no entry */
    int set;           /* whether somebody set the bounds: then they outweigh others (MPI-5.0 §5.1.7) */
};

static inline long typemap_extent(const struct typemap *map) { return map->entries ? map->upper - map->lower : 0; }

static inline void typemap_of_int(struct typemap *map)
{
    map->entries = 1;
    map->displacements[0] = 0;
    map->lower = 0;
    map->upper = sizeof(int);
    map->set = 0;
}

/* Appends one copy of `base` moved by `by` bytes. */
static inline void typemap_append(struct typemap *map, const struct typemap *base, long by)
{
    if (base->entries == 0)
        return;
    int outweighs = map->entries == 0 || base->set > map->set, joins = base->set == map->set;
    if (outweighs || (joins && base->lower + by < map->lower))
        map->lower = base->lower + by;
    if (outweighs || (joins && base->upper + by > map->upper))
        map->upper = base->upper + by;
    map->set |= base->set;
    for (int i = 0; i < base->entries; i++)
        map->displacements[map->entries + i] = base->displacements[i] + by;
    map->entries += base->entries;
}

static inline void typemap_clear(struct typemap *map)
{
    map->entries = 0;
    map->lower = map->upper = 0;
    map->set = 0;
}

/* MPI-5.0 §5.1.2: `count` blocks of `length` copies of `base`, block starts `stride` extents apart. */
static inline void typemap_vector(struct typemap *map, const struct typemap *base, int count, int length,
                                  int stride)
{
    long extent = typemap_extent(base);
    typemap_clear(map);
    for (int block = 0; block < count; block++)
        for (int i = 0; i < length; i++)
            typemap_append(map, base, ((long)block * stride + i) * extent);
}

#endif
