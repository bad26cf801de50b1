/* Element shapes for the collective programs: a datatype over int, where its data lies, and buffers that
 * know what they should hold. Int that belong to no element keep the value GAP. */
#ifndef WEFT_TESTS_SHAPES_H
#define WEFT_TESTS_SHAPES_H

#include "check.h"

enum { GAP = -99, SHAPES = 3 };

struct shape {
    const char *name;
    MPI_Datatype type;
    int data;       /* int of data in an element */
    int span;       /* int from one element to the next: the extent */
    int offsets[3]; /* where the data lies in the span */
};

static struct shape shapes[SHAPES] = {
    { "int", MPI_DATATYPE_NULL, 1, 1, { 0 } },
    { "contiguous(3)", MPI_DATATYPE_NULL, 3, 3, { 0, 1, 2 } },
    { "vector(2,1,2)", MPI_DATATYPE_NULL, 2, 3, { 0, 2 } },
};

static inline void create_shapes(void)
{
    shapes[0].type = MPI_INT;
    MPI_Type_contiguous(3, MPI_INT, &shapes[1].type);
    MPI_Type_vector(2, 1, 2, MPI_INT, &shapes[2].type);
    MPI_Type_commit(&shapes[1].type);
    MPI_Type_commit(&shapes[2].type);
}

static inline void free_shapes(void)
{
    MPI_Type_free(&shapes[1].type);
    MPI_Type_free(&shapes[2].type);
}

/* A buffer of `elements` elements, all gap. */
static inline int *shape_buffer(const struct shape *shape, int elements)
{
    int ints = elements * shape->span;
    int *buffer = need((size_t)ints * sizeof(int));
    for (int i = 0; i < ints; i++)
        buffer[i] = GAP;
    return buffer;
}

/* The value of the k-th int of data of element `element` of the block that `key` names. */
static inline int shape_value(int key, int element, int k)
{
    return (int)(((unsigned)key * 2654435761u + (unsigned)element * 40503u + (unsigned)k) & 0x7fffffff);
}

/* Writes the block `key` of `count` elements at element `at`. */
static inline void put_block(int *buffer, const struct shape *shape, int at, int count, int key)
{
    for (int e = 0; e < count; e++)
        for (int k = 0; k < shape->data; k++)
            buffer[(at + e) * shape->span + shape->offsets[k]] = shape_value(key, e, k);
}

/* Whether the block `key` starts at element `at`. Only the first `count` elements are looked at. */
static inline int has_block(const int *buffer, const struct shape *shape, int at, int count, int key)
{
    for (int e = 0; e < count; e++)
        for (int k = 0; k < shape->data; k++)
            if (buffer[(at + e) * shape->span + shape->offsets[k]] != shape_value(key, e, k))
                return 0;
    return 1;
}

/* Whether `count` elements from `at` are untouched, gaps and data. */
static inline int is_untouched(const int *buffer, const struct shape *shape, int at, int count)
{
    for (int i = at * shape->span; i < (at + count) * shape->span; i++)
        if (buffer[i] != GAP)
            return 0;
    return 1;
}

/* Whether the int between the data of `count` elements from the start are untouched. */
static inline int gaps_untouched(const int *buffer, const struct shape *shape, int count)
{
    if (shape->data == shape->span)
        return 1;
    for (int e = 0; e < count; e++)
        if (buffer[e * shape->span + 1] != GAP)
            return 0;
    return 1;
}

#endif
