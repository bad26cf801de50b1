/* Random datatypes, and beside each a plain list of where its elements lie. */
#ifndef WEFT_TESTS_LAYOUTS_H
#define WEFT_TESTS_LAYOUTS_H

#include "check.h"
#include <stdbool.h>
#include <stddef.h>

/* Random numbers that are the same on all ranks, as each draws all of them. */
static uint64_t random_state = 1;

static inline uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545F4914F6CDD1Du >> 11;
}

static inline long below(long bound) { return (long)(draw() % (uint64_t)bound); }

enum kind { I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F80, C32, C64, BOOLEAN, BYTES, ADDRESS, PAIR_F32, PAIR_F64, PAIR_F80, PAIR_I16, PAIR_I32, PAIR_I64, MIXED };

/* What an element is. Fields are what moves, in the order of the type's signature. */
struct basic {
    const char *name;
    MPI_Datatype type;
    enum kind kind;
    long size, align;
    int fields;
    struct { long at, bytes; } field[2];
};

#define PLAIN(mpi, kind, c) {#mpi, mpi, kind, sizeof(c), _Alignof(c), 1, {{0, sizeof(c)}}}
#define PAIRED(mpi, kind, c, bytes) {#mpi, mpi, kind, sizeof(c), _Alignof(c), 2, {{0, bytes}, {offsetof(c, index), sizeof(int)}}}

struct pair_f32 { float value; int index; };
struct pair_f64 { double value; int index; };
struct pair_f80 { long double value; int index; };
struct pair_i16 { short value; int index; };
struct pair_i32 { int value; int index; };
struct pair_i64 { long value; int index; };
struct int_double { int first; double second; };
struct double_int { double second; int first; };

enum { F80_BYTES = 10, PLAINS = 33, PAIRS = 6 };

static struct basic basics[] = {
    PLAIN(MPI_INT8_T, I8, int8_t), PLAIN(MPI_INT16_T, I16, int16_t), PLAIN(MPI_INT32_T, I32, int32_t), PLAIN(MPI_INT64_T, I64, int64_t),
    PLAIN(MPI_UINT8_T, U8, uint8_t), PLAIN(MPI_UINT16_T, U16, uint16_t), PLAIN(MPI_UINT32_T, U32, uint32_t), PLAIN(MPI_UINT64_T, U64, uint64_t),
    PLAIN(MPI_SIGNED_CHAR, I8, signed char), PLAIN(MPI_UNSIGNED_CHAR, U8, unsigned char), PLAIN(MPI_SHORT, I16, short), PLAIN(MPI_UNSIGNED_SHORT, U16, short),
    PLAIN(MPI_INT, I32, int), PLAIN(MPI_UNSIGNED, U32, int), PLAIN(MPI_LONG, I64, long), PLAIN(MPI_UNSIGNED_LONG, U64, long),
    PLAIN(MPI_LONG_LONG, I64, long long), PLAIN(MPI_UNSIGNED_LONG_LONG, U64, long long),
    PLAIN(MPI_FLOAT, F32, float), PLAIN(MPI_DOUBLE, F64, double),
    {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, F80, sizeof(long double), _Alignof(long double), 1, {{0, F80_BYTES}}},
    PLAIN(MPI_C_FLOAT_COMPLEX, C32, float _Complex), PLAIN(MPI_C_DOUBLE_COMPLEX, C64, double _Complex),
    PLAIN(MPI_C_BOOL, BOOLEAN, bool), PLAIN(MPI_BYTE, BYTES, char), PLAIN(MPI_BYTE, BYTES, char), PLAIN(MPI_BYTE, BYTES, char), PLAIN(MPI_DOUBLE, F64, double),
    PLAIN(MPI_INT, I32, int), PLAIN(MPI_LONG, I64, long), PLAIN(MPI_AINT, ADDRESS, MPI_Aint), PLAIN(MPI_OFFSET, ADDRESS, MPI_Offset), PLAIN(MPI_COUNT, ADDRESS, MPI_Count),
    PAIRED(MPI_FLOAT_INT, PAIR_F32, struct pair_f32, 4), PAIRED(MPI_DOUBLE_INT, PAIR_F64, struct pair_f64, 8),
    PAIRED(MPI_LONG_DOUBLE_INT, PAIR_F80, struct pair_f80, F80_BYTES), PAIRED(MPI_SHORT_INT, PAIR_I16, struct pair_i16, 2),
    PAIRED(MPI_2INT, PAIR_I32, struct pair_i32, 4), PAIRED(MPI_LONG_INT, PAIR_I64, struct pair_i64, 8),
    /* Made by the program, of one signature and two orders in memory; for transfers alone. */
    {"int, double", MPI_DATATYPE_NULL, MIXED, sizeof(struct int_double), 8, 2, {{0, 4}, {8, 8}}},
    {"double before int", MPI_DATATYPE_NULL, MIXED, sizeof(struct double_int), 8, 2, {{8, 4}, {0, 8}}},
};

enum { BASICS = sizeof basics / sizeof *basics, MIXED_AT = BASICS - 2 };
_Static_assert(PLAINS + PAIRS == MIXED_AT, "the kinds of basics, in this order");

static inline void make_basics(void)
{
    for (int i = MIXED_AT; i < BASICS; i++) {
        MPI_Aint at[] = {basics[i].field[0].at, basics[i].field[1].at};
        MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &basics[i].type);
        MPI_Type_commit(&basics[i].type);
    }
}

static inline void free_basics(void)
{
    for (int i = MIXED_AT; i < BASICS; i++)
        MPI_Type_free(&basics[i].type);
}

/* A datatype of n elements of `basic`: at[i] is where element i of one copy lies, in bytes. */
struct layout {
    MPI_Datatype type;
    const struct basic *basic;
    bool is_made;
    long n, extent, *at;
    long low, high; /* what one copy spans */
};

static inline void free_layout(struct layout *layout)
{
    if (layout->is_made)
        MPI_Type_free(&layout->type);
    free(layout->at);
}

/* Where element i of as many copies as are wanted lies. */
static inline long element_at(const struct layout *layout, long i) { return i / layout->n * layout->extent + layout->at[i % layout->n]; }

/* What `count` copies span, behind where they begin. */
static inline void span(const struct layout *layout, long count, long *low, long *high)
{
    long last = count > 0 ? (count - 1) * layout->extent : 0;
    *low = layout->low;
    *high = layout->high + last;
}

/* The type itself. */
static inline struct layout plain_layout(const struct basic *basic)
{
    struct layout layout = {.type = basic->type, .basic = basic, .n = 1, .extent = basic->size, .high = basic->size};
    layout.at = need(sizeof *layout.at);
    layout.at[0] = 0;
    return layout;
}

static inline long divisor(long n)
{
    long found = 1 + below(n < 64 ? n : 64);
    while (n % found != 0)
        found--;
    return found;
}

/* Blocks of elements that do not overlap, in any order and on both sides of 0; or, if they may, wherever they lie. */
static inline int scatter(long n, bool overlap, int *lengths, int *places)
{
    int blocks = 0;
    long place = -below(2 * n + 1);
    for (long left = n; left > 0; blocks++) {
        long length = 1 + below(left);
        lengths[blocks] = (int)length;
        places[blocks] = (int)(overlap ? below(n) - n / 2 : place);
        place += length + below(4);
        left -= length;
    }
    for (int i = blocks - 1; i > 0; i--) {
        int j = (int)below(i + 1), length = lengths[i], at = places[i];
        lengths[i] = lengths[j], places[i] = places[j];
        lengths[j] = length, places[j] = at;
    }
    return blocks;
}

/* Fills at[] from blocks in units of elements. */
static inline void place_blocks(struct layout *layout, int blocks, const int *lengths, const int *places)
{
    long i = 0;
    for (int block = 0; block < blocks; block++)
        for (int k = 0; k < lengths[block]; k++)
            layout->at[i++] = (places[block] + k) * layout->basic->size;
}

static inline void irregular(struct layout *layout, int shape, bool overlap)
{
    long n = layout->n, size = layout->basic->size;
    int *lengths = need(n * sizeof *lengths), *places = need(n * sizeof *places);
    int blocks = scatter(n, overlap, lengths, places);
    MPI_Aint *bytes = need(blocks * sizeof *bytes);
    MPI_Datatype *types = need(blocks * sizeof *types), inner;
    place_blocks(layout, blocks, lengths, places);
    for (int i = 0; i < blocks; i++)
        bytes[i] = places[i] * size, types[i] = layout->basic->type;
    switch (shape) {
    case 0:
        MPI_Type_indexed(blocks, lengths, places, layout->basic->type, &layout->type);
        break;
    case 1:
        MPI_Type_create_hindexed(blocks, lengths, bytes, layout->basic->type, &layout->type);
        break;
    default:
        /* With bounds of its own, wider than it is. */
        MPI_Type_create_struct(blocks, lengths, bytes, types, &inner);
        MPI_Type_create_resized(inner, -4 * n * size, 12 * n * size, &layout->type);
        MPI_Type_free(&inner);
        layout->extent = 12 * n * size;
    }
    free(lengths), free(places), free(bytes), free(types);
}

static inline void regular(struct layout *layout, int shape)
{
    long n = layout->n, size = layout->basic->size, length = divisor(n), count = n / length, stride = length + below(4);
    MPI_Datatype inner, basic = layout->basic->type;
    if (shape == 1)
        stride = -stride;
    for (long i = 0; i < n; i++)
        layout->at[i] = (i / length * stride + i % length) * size;
    switch (shape) {
    case 0:
        MPI_Type_vector((int)count, (int)length, (int)stride, basic, &layout->type);
        break;
    case 1:
        MPI_Type_create_hvector((int)count, (int)length, stride * size, basic, &layout->type);
        break;
    case 2:
        /* A part of a matrix, without its first and its last row. */
        MPI_Type_create_subarray(2, (int[]){(int)count + 2, (int)stride}, (int[]){(int)count, (int)length}, (int[]){1, (int)(stride - length)}, MPI_ORDER_C, basic,
                                 &layout->type);
        for (long i = 0; i < n; i++)
            layout->at[i] += (stride + stride - length) * size;
        layout->extent = (count + 2) * stride * size;
        break;
    case 3:
        /* A vector of vectors: every second element. */
        MPI_Type_create_resized(basic, 0, 2 * size, &inner);
        MPI_Type_vector((int)count, (int)length, (int)stride, inner, &layout->type);
        MPI_Type_free(&inner);
        for (long i = 0; i < n; i++)
            layout->at[i] *= 2;
        layout->extent = ((count - 1) * stride + length) * 2 * size;
        break;
    default:
        MPI_Type_contiguous((int)n, basic, &layout->type);
        for (long i = 0; i < n; i++)
            layout->at[i] = i * size;
    }
}

/* Some datatype of n elements. Only where `overlap` is true may an element stand in it twice. */
static inline struct layout random_layout(const struct basic *basic, long n, bool overlap)
{
    if (n == 1 && below(4) != 0)
        return plain_layout(basic);
    struct layout layout = {.basic = basic, .n = n, .is_made = true};
    layout.at = need(n * sizeof *layout.at);
    int shape = (int)below(8);
    if (shape < 3)
        irregular(&layout, shape, overlap);
    else
        regular(&layout, shape - 3);
    MPI_Type_commit(&layout.type);
    layout.low = layout.high = layout.at[0];
    for (long i = 0; i < n; i++) {
        long end = layout.at[i] + basic->size;
        layout.low = layout.at[i] < layout.low ? layout.at[i] : layout.low;
        layout.high = end > layout.high ? end : layout.high;
    }
    if (layout.extent == 0)
        layout.extent = layout.high - layout.low;
    return layout;
}

#endif
