/* The table of the reductions of MPI-5.0 §6.9.2: which operation is allowed on which predefined type, and
 * what each computes, in plain C. A rank knows every rank's operands, so it computes the result alone. */
#ifndef WEFT_TESTS_REDUCTIONS_H
#define WEFT_TESTS_REDUCTIONS_H

#include "check.h"
#include <complex.h>
#include <stdbool.h>

enum { LARGEST_ELEMENT = 64 };

typedef void fill_function(void *buffer, int count, int rank);
typedef void combine_function(const void *in, void *inout, int count);
typedef int equal_function(const void *a, const void *b, int count);

/* Operands are small, so that no type of any width overflows and every float result is exact. */
static inline int operand(int rank, int index)
{
    return (index * 5 + rank * 3 + index * rank) % 3 + (rank + index) % 2;
}

struct operation {
    MPI_Op op;
    const char *name;
    combine_function *combine;
};

struct reduced_type {
    MPI_Datatype type;
    const char *name;
    int size; /* of the C type that computes the expectation */
    fill_function *fill;
    equal_function *equal;
    struct operation operations[11]; /* ends with a null name */
};

#define FILL_AND_EQUAL(name, ctype) \
    static inline void fill_##name(void *buffer, int count, int rank) \
    { \
        for (int i = 0; i < count; i++) \
            ((ctype *)buffer)[i] = (ctype)operand(rank, i); \
    } \
    static inline int equal_##name(const void *a, const void *b, int count) \
    { \
        for (int i = 0; i < count; i++) \
            if (((const ctype *)a)[i] != ((const ctype *)b)[i]) \
                return 0; \
        return 1; \
    }

#define COMBINE(name, ctype, op, expression) \
    static inline void op##_##name(const void *in, void *inout, int count) \
    { \
        for (int i = 0; i < count; i++) { \
            ctype a = ((const ctype *)in)[i], b = ((ctype *)inout)[i]; \
            ((ctype *)inout)[i] = (ctype)(expression); \
        } \
    }

#define ORDERED(name, ctype) COMBINE(name, ctype, max, a > b ? a : b) COMBINE(name, ctype, min, a < b ? a : b)
#define ARITHMETIC(name, ctype) COMBINE(name, ctype, sum, a + b) COMBINE(name, ctype, prod, a * b)
#define BITWISE(name, ctype) \
    COMBINE(name, ctype, band, a & b) COMBINE(name, ctype, bor, a | b) COMBINE(name, ctype, bxor, a ^ b)
#define LOGICAL(name, ctype) \
    COMBINE(name, ctype, land, a && b) COMBINE(name, ctype, lor, a || b) COMBINE(name, ctype, lxor, !a != !b)

#define INTEGER_TYPE(name, ctype) \
    FILL_AND_EQUAL(name, ctype) ORDERED(name, ctype) ARITHMETIC(name, ctype) \
    BITWISE(name, ctype) LOGICAL(name, ctype)
#define REAL_TYPE(name, ctype) FILL_AND_EQUAL(name, ctype) ORDERED(name, ctype) ARITHMETIC(name, ctype)
#define COMPLEX_TYPE(name, ctype) FILL_AND_EQUAL(name, ctype) ARITHMETIC(name, ctype)

INTEGER_TYPE(i8, int8_t)
INTEGER_TYPE(u8, uint8_t)
INTEGER_TYPE(i16, int16_t)
INTEGER_TYPE(u16, uint16_t)
INTEGER_TYPE(i32, int32_t)
INTEGER_TYPE(u32, uint32_t)
INTEGER_TYPE(i64, int64_t)
INTEGER_TYPE(u64, uint64_t)
REAL_TYPE(f32, float)
REAL_TYPE(f64, double)
REAL_TYPE(flong, long double)
COMPLEX_TYPE(c64, float complex)
COMPLEX_TYPE(c128, double complex)
COMPLEX_TYPE(clong, long double complex)

/* A truth value is compared as such: any number but zero is true. */
#define TRUTH_TYPE(name, ctype) \
    static inline void fill_##name(void *buffer, int count, int rank) \
    { \
        for (int i = 0; i < count; i++) \
            ((ctype *)buffer)[i] = operand(rank, i) > 1; \
    } \
    static inline int equal_##name(const void *a, const void *b, int count) \
    { \
        for (int i = 0; i < count; i++) \
            if (!((const ctype *)a)[i] != !((const ctype *)b)[i]) \
                return 0; \
        return 1; \
    } \
    LOGICAL(name, ctype)

TRUTH_TYPE(truth, bool)
TRUTH_TYPE(t8, int8_t)
TRUTH_TYPE(t16, int16_t)
TRUTH_TYPE(t32, int32_t)
TRUTH_TYPE(t64, int64_t)

#define OP(op, word, name) { MPI_##op, #op, word##_##name }
#define ORDER_OPS(n) OP(MAX, max, n), OP(MIN, min, n)
#define ARITHMETIC_OPS(n) OP(SUM, sum, n), OP(PROD, prod, n)
#define BIT_OPS(n) OP(BAND, band, n), OP(BOR, bor, n), OP(BXOR, bxor, n)
#define LOGICAL_OPS(n) OP(LAND, land, n), OP(LOR, lor, n), OP(LXOR, lxor, n)

#define ROW(type, n, ctype, ...) { type, #type, (int)sizeof(ctype), fill_##n, equal_##n, { __VA_ARGS__ } }
#define C_INTEGER(type, n, ctype) ROW(type, n, ctype, ORDER_OPS(n), ARITHMETIC_OPS(n), BIT_OPS(n), LOGICAL_OPS(n))
#define OTHER_INTEGER(type, n, ctype) ROW(type, n, ctype, ORDER_OPS(n), ARITHMETIC_OPS(n), BIT_OPS(n))
#define REAL(type, n, ctype) ROW(type, n, ctype, ORDER_OPS(n), ARITHMETIC_OPS(n))
#define COMPLEX(type, n, ctype) ROW(type, n, ctype, ARITHMETIC_OPS(n))
#define TRUTH(type, n, ctype) ROW(type, n, ctype, LOGICAL_OPS(n))

static const struct reduced_type reduced_types[] = {
    C_INTEGER(MPI_SIGNED_CHAR, i8, int8_t), C_INTEGER(MPI_UNSIGNED_CHAR, u8, uint8_t),
    C_INTEGER(MPI_SHORT, i16, int16_t), C_INTEGER(MPI_UNSIGNED_SHORT, u16, uint16_t),
    C_INTEGER(MPI_INT, i32, int32_t), C_INTEGER(MPI_UNSIGNED, u32, uint32_t),
    C_INTEGER(MPI_LONG, i64, int64_t), C_INTEGER(MPI_UNSIGNED_LONG, u64, uint64_t),
    C_INTEGER(MPI_LONG_LONG, i64, int64_t), C_INTEGER(MPI_UNSIGNED_LONG_LONG, u64, uint64_t),
    C_INTEGER(MPI_INT8_T, i8, int8_t), C_INTEGER(MPI_UINT8_T, u8, uint8_t),
    C_INTEGER(MPI_INT16_T, i16, int16_t), C_INTEGER(MPI_UINT16_T, u16, uint16_t),
    C_INTEGER(MPI_INT32_T, i32, int32_t), C_INTEGER(MPI_UINT32_T, u32, uint32_t),
    C_INTEGER(MPI_INT64_T, i64, int64_t), C_INTEGER(MPI_UINT64_T, u64, uint64_t),
    OTHER_INTEGER(MPI_INTEGER, i32, int32_t), OTHER_INTEGER(MPI_INTEGER1, i8, int8_t),
    OTHER_INTEGER(MPI_INTEGER2, i16, int16_t), OTHER_INTEGER(MPI_INTEGER4, i32, int32_t),
    OTHER_INTEGER(MPI_INTEGER8, i64, int64_t), OTHER_INTEGER(MPI_AINT, i64, int64_t),
    OTHER_INTEGER(MPI_OFFSET, i64, int64_t), OTHER_INTEGER(MPI_COUNT, i64, int64_t),
    REAL(MPI_FLOAT, f32, float), REAL(MPI_DOUBLE, f64, double),
    REAL(MPI_LONG_DOUBLE, flong, long double), REAL(MPI_REAL, f32, float),
    REAL(MPI_DOUBLE_PRECISION, f64, double), REAL(MPI_REAL4, f32, float), REAL(MPI_REAL8, f64, double),
    COMPLEX(MPI_C_FLOAT_COMPLEX, c64, float complex), COMPLEX(MPI_C_DOUBLE_COMPLEX, c128, double complex),
    COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, clong, long double complex),
    COMPLEX(MPI_CXX_FLOAT_COMPLEX, c64, float complex),
    COMPLEX(MPI_CXX_DOUBLE_COMPLEX, c128, double complex),
    COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, clong, long double complex),
    COMPLEX(MPI_COMPLEX, c64, float complex), COMPLEX(MPI_DOUBLE_COMPLEX, c128, double complex),
    COMPLEX(MPI_COMPLEX8, c64, float complex), COMPLEX(MPI_COMPLEX16, c128, double complex),
    TRUTH(MPI_C_BOOL, truth, bool), TRUTH(MPI_CXX_BOOL, truth, bool), TRUTH(MPI_LOGICAL, t32, int32_t),
    TRUTH(MPI_LOGICAL1, t8, int8_t), TRUTH(MPI_LOGICAL2, t16, int16_t),
    TRUTH(MPI_LOGICAL4, t32, int32_t), TRUTH(MPI_LOGICAL8, t64, int64_t),
    ROW(MPI_BYTE, u8, uint8_t, BIT_OPS(u8)),
};

enum { REDUCED_TYPES = sizeof reduced_types / sizeof *reduced_types };

/* Whether this library has the type: optional types have the size MPI_UNDEFINED where they are missing. */
static inline int has_type(const struct reduced_type *type)
{
    int size = -1;
    MPI_Type_size(type->type, &size);
    return size == type->size;
}

/* The result over the ranks 0 to `last`. */
static inline void expect(const struct reduced_type *type, const struct operation *operation, int last,
                          void *result, void *scratch, int count)
{
    type->fill(result, count, 0);
    for (int rank = 1; rank <= last; rank++) {
        type->fill(scratch, count, rank);
        operation->combine(scratch, result, count);
    }
}

#endif
