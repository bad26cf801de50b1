/* The predefined reduction operations on one element, written down plainly: what accumulates are compared with. */
#ifndef WEFT_TESTS_OPERATIONS_H
#define WEFT_TESTS_OPERATIONS_H

#include "layouts.h"
#include <complex.h>

enum op { SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, MAXLOC, MINLOC, REPLACE, NO_OP, OPS };

static MPI_Op op_handles[OPS];

static inline void make_ops(void)
{
    MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
    memcpy(op_handles, all, sizeof all);
}

/* MPI-5.0 §6.9.2, §6.9.4, §12.3.4. */
static inline bool is_defined(enum op op, enum kind kind)
{
    bool integer = kind <= U64, real = kind >= F32 && kind <= F80, is_complex = kind == C32 || kind == C64;
    if (op == REPLACE || op == NO_OP)
        return kind != MIXED;
    if (op == MAXLOC || op == MINLOC)
        return kind >= PAIR_F32 && kind <= PAIR_I64;
    if (op == SUM || op == PROD)
        return integer || real || is_complex || kind == ADDRESS;
    if (op == MAX || op == MIN)
        return integer || real || kind == ADDRESS;
    if (op >= LAND && op <= LXOR)
        return integer || kind == BOOLEAN;
    return integer || kind == BYTES || kind == ADDRESS;
}

/* Whether the result does not depend on the order in which several origins come, to the bit. */
static inline bool is_orderless(enum op op, enum kind kind)
{
    bool is_complex = kind == C32 || kind == C64;
    return op < REPLACE && !(is_complex && op == PROD);
}

#define APPLY_INTEGER(name, type) \
    static inline void name(enum op op, void *to, const void *from) \
    { \
        type a, b; \
        memcpy(&a, to, sizeof a), memcpy(&b, from, sizeof b); \
        uint64_t x = (uint64_t)a, y = (uint64_t)b; \
        switch (op) { \
        case SUM: a = (type)(x + y); break; \
        case PROD: a = (type)(x * y); break; \
        case MAX: a = a > b ? a : b; break; \
        case MIN: a = a < b ? a : b; break; \
        case LAND: a = a && b; break; \
        case LOR: a = a || b; break; \
        case LXOR: a = !a != !b; break; \
        case BAND: a = (type)(x & y); break; \
        case BOR: a = (type)(x | y); break; \
        default: a = (type)(x ^ y); \
        } \
        memcpy(to, &a, sizeof a); \
    }

APPLY_INTEGER(apply_i8, int8_t)
APPLY_INTEGER(apply_i16, int16_t)
APPLY_INTEGER(apply_i32, int32_t)
APPLY_INTEGER(apply_i64, int64_t)
APPLY_INTEGER(apply_u8, uint8_t)
APPLY_INTEGER(apply_u16, uint16_t)
APPLY_INTEGER(apply_u32, uint32_t)
APPLY_INTEGER(apply_u64, uint64_t)

#define APPLY_REAL(name, type, bytes) \
    static inline void name(enum op op, void *to, const void *from) \
    { \
        type a = 0, b = 0; \
        memcpy(&a, to, bytes), memcpy(&b, from, bytes); \
        a = op == SUM ? a + b : op == PROD ? a * b : op == MAX ? (a > b ? a : b) : (a < b ? a : b); \
        memcpy(to, &a, bytes); \
    }

APPLY_REAL(apply_f32, float, 4)
APPLY_REAL(apply_f64, double, 8)
APPLY_REAL(apply_f80, long double, F80_BYTES)

#define APPLY_COMPLEX(name, type) \
    static inline void name(enum op op, void *to, const void *from) \
    { \
        type a[2], b[2], c[2]; \
        memcpy(a, to, sizeof a), memcpy(b, from, sizeof b); \
        c[0] = op == SUM ? a[0] + b[0] : a[0] * b[0] - a[1] * b[1]; \
        c[1] = op == SUM ? a[1] + b[1] : a[0] * b[1] + a[1] * b[0]; \
        memcpy(to, c, sizeof c); \
    }

APPLY_COMPLEX(apply_c32, float)
APPLY_COMPLEX(apply_c64, double)

#define APPLY_PAIR(name, pair, type, bytes) \
    static inline void name(enum op op, void *to, const void *from) \
    { \
        type a = 0, b = 0; \
        int i, j, at = offsetof(pair, index); \
        memcpy(&a, to, bytes), memcpy(&b, from, bytes); \
        memcpy(&i, (char *)to + at, sizeof i), memcpy(&j, (const char *)from + at, sizeof j); \
        if (a == b) \
            i = i < j ? i : j; \
        else if ((op == MAXLOC) == (b > a)) \
            a = b, i = j; \
        memcpy(to, &a, bytes), memcpy((char *)to + at, &i, sizeof i); \
    }

APPLY_PAIR(apply_pair_f32, struct pair_f32, float, 4)
APPLY_PAIR(apply_pair_f64, struct pair_f64, double, 8)
APPLY_PAIR(apply_pair_f80, struct pair_f80, long double, F80_BYTES)
APPLY_PAIR(apply_pair_i16, struct pair_i16, short, 2)
APPLY_PAIR(apply_pair_i32, struct pair_i32, int, 4)
APPLY_PAIR(apply_pair_i64, struct pair_i64, long, 8)

/* to = to op from, for one element. */
static inline void apply(enum op op, const struct basic *basic, void *to, const void *from)
{
    static void (*const by_kind[])(enum op, void *, const void *) = {
        [I8] = apply_i8, [I16] = apply_i16, [I32] = apply_i32, [I64] = apply_i64, [U8] = apply_u8, [U16] = apply_u16, [U32] = apply_u32, [U64] = apply_u64,
        [F32] = apply_f32, [F64] = apply_f64, [F80] = apply_f80, [C32] = apply_c32, [C64] = apply_c64, [BOOLEAN] = apply_u8, [BYTES] = apply_u8, [ADDRESS] = apply_i64,
        [PAIR_F32] = apply_pair_f32, [PAIR_F64] = apply_pair_f64, [PAIR_F80] = apply_pair_f80, [PAIR_I16] = apply_pair_i16, [PAIR_I32] = apply_pair_i32,
        [PAIR_I64] = apply_pair_i64,
    };
    if (op == REPLACE)
        for (int f = 0; f < basic->fields; f++)
            memcpy((char *)to + basic->field[f].at, (const char *)from + basic->field[f].at, basic->field[f].bytes);
    else if (op != NO_OP)
        by_kind[basic->kind](op, to, from);
}

/* A value with which results are exact in whatever order it is worked with. `to` has room for an element. */
static inline void small_value(const struct basic *basic, uint64_t seed, void *to)
{
    static const int values[] = {1, 2, -1, 1, 3, -2, 1};
    int value = values[seed % 7], index = (int)(seed / 7 % 5);
    bool is_unsigned = basic->kind >= U8 && basic->kind <= U64;
    memset(to, 0, basic->size);
#define STORE(type, v) do { type stored = (type)(v); memcpy(to, &stored, sizeof stored); } while (0)
    switch (basic->kind) {
    case I8: STORE(int8_t, value); break;
    case I16: STORE(int16_t, value); break;
    case I32: STORE(int32_t, value); break;
    case U8: case BYTES: STORE(uint8_t, seed); break;
    case U16: STORE(uint16_t, value * value); break;
    case U32: STORE(uint32_t, value * value); break;
    case F32: case PAIR_F32: STORE(float, value); break;
    case F64: case PAIR_F64: STORE(double, value); break;
    case F80: case PAIR_F80: { long double wide = value; memcpy(to, &wide, F80_BYTES); break; }
    case C32: STORE(float _Complex, CMPLXF(value, index - 2)); break;
    case C64: STORE(double _Complex, CMPLX(value, index - 2)); break;
    case BOOLEAN: STORE(bool, seed & 1); break;
    case PAIR_I16: STORE(short, value); break;
    case PAIR_I32: STORE(int, value); break;
    case MIXED: { double second = value; memcpy((char *)to + basic->field[0].at, &index, 4), memcpy((char *)to + basic->field[1].at, &second, 8); break; }
    default: STORE(int64_t, is_unsigned ? value * value : value);
    }
    if (basic->kind >= PAIR_F32 && basic->kind <= PAIR_I64)
        memcpy((char *)to + basic->field[1].at, &index, sizeof index);
}

#endif
