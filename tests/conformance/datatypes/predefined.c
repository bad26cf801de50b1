/* Sizes and extents of the predefined datatypes, and one message of each. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

#define TYPE(mpi, ctype) { mpi, #mpi, sizeof(ctype), sizeof(ctype) }
#define PAIR(mpi, vtype) { mpi, #mpi, sizeof(vtype) + sizeof(int), sizeof(struct { vtype v; int i; }) }

/* The size counts the data, the extent the padding too: MPI-5.0 §5.1.5, §5.1.7. */
static const struct {
    MPI_Datatype type;
    const char *name;
    size_t size, extent;
} types[] = {
    TYPE(MPI_CHAR, char), TYPE(MPI_SIGNED_CHAR, signed char), TYPE(MPI_UNSIGNED_CHAR, unsigned char),
    TYPE(MPI_BYTE, char), TYPE(MPI_PACKED, char), TYPE(MPI_WCHAR, wchar_t), TYPE(MPI_SHORT, short),
    TYPE(MPI_UNSIGNED_SHORT, short), TYPE(MPI_INT, int), TYPE(MPI_UNSIGNED, int), TYPE(MPI_LONG, long),
    TYPE(MPI_UNSIGNED_LONG, long), TYPE(MPI_LONG_LONG, long long), TYPE(MPI_LONG_LONG_INT, long long),
    TYPE(MPI_UNSIGNED_LONG_LONG, long long), TYPE(MPI_FLOAT, float), TYPE(MPI_DOUBLE, double),
    TYPE(MPI_LONG_DOUBLE, long double), TYPE(MPI_C_BOOL, bool), TYPE(MPI_INT8_T, int8_t),
    TYPE(MPI_UINT8_T, int8_t), TYPE(MPI_INT16_T, int16_t), TYPE(MPI_UINT16_T, int16_t),
    TYPE(MPI_INT32_T, int32_t), TYPE(MPI_UINT32_T, int32_t), TYPE(MPI_INT64_T, int64_t),
    TYPE(MPI_UINT64_T, int64_t), TYPE(MPI_AINT, MPI_Aint), TYPE(MPI_OFFSET, MPI_Offset),
    TYPE(MPI_COUNT, MPI_Count), TYPE(MPI_C_COMPLEX, float complex),
    TYPE(MPI_C_FLOAT_COMPLEX, float complex), TYPE(MPI_C_DOUBLE_COMPLEX, double complex),
    TYPE(MPI_C_LONG_DOUBLE_COMPLEX, long double complex), TYPE(MPI_CXX_BOOL, bool),
    TYPE(MPI_CXX_FLOAT_COMPLEX, float complex), TYPE(MPI_CXX_DOUBLE_COMPLEX, double complex),
    TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex), PAIR(MPI_FLOAT_INT, float),
    PAIR(MPI_DOUBLE_INT, double), PAIR(MPI_LONG_INT, long), PAIR(MPI_2INT, int),
    PAIR(MPI_SHORT_INT, short), PAIR(MPI_LONG_DOUBLE_INT, long double),
};

/* Fortran's, and those of a fixed size: missing ones have the size MPI_UNDEFINED (MPI-5.0 §20.3). */
static const struct {
    MPI_Datatype type;
    const char *name;
    int size;
} optional[] = {
    { MPI_INTEGER, "MPI_INTEGER", 4 }, { MPI_REAL, "MPI_REAL", 4 }, { MPI_LOGICAL, "MPI_LOGICAL", 4 },
    { MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", 8 }, { MPI_COMPLEX, "MPI_COMPLEX", 8 },
    { MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", 16 }, { MPI_CHARACTER, "MPI_CHARACTER", 1 },
    { MPI_2REAL, "MPI_2REAL", 8 }, { MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", 16 },
    { MPI_2INTEGER, "MPI_2INTEGER", 8 }, { MPI_INTEGER1, "MPI_INTEGER1", 1 },
    { MPI_INTEGER2, "MPI_INTEGER2", 2 }, { MPI_INTEGER4, "MPI_INTEGER4", 4 },
    { MPI_INTEGER8, "MPI_INTEGER8", 8 }, { MPI_INTEGER16, "MPI_INTEGER16", 16 },
    { MPI_REAL2, "MPI_REAL2", 2 }, { MPI_REAL4, "MPI_REAL4", 4 }, { MPI_REAL8, "MPI_REAL8", 8 },
    { MPI_REAL16, "MPI_REAL16", 16 }, { MPI_COMPLEX4, "MPI_COMPLEX4", 4 },
    { MPI_COMPLEX8, "MPI_COMPLEX8", 8 }, { MPI_COMPLEX16, "MPI_COMPLEX16", 16 },
    { MPI_COMPLEX32, "MPI_COMPLEX32", 32 }, { MPI_LOGICAL1, "MPI_LOGICAL1", 1 },
    { MPI_LOGICAL2, "MPI_LOGICAL2", 2 }, { MPI_LOGICAL4, "MPI_LOGICAL4", 4 },
    { MPI_LOGICAL8, "MPI_LOGICAL8", 8 }, { MPI_LOGICAL16, "MPI_LOGICAL16", 16 },
};

static void sizes(void)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int size = -1;
        MPI_Count big = -1, big_lower = -1, big_extent = -1;
        MPI_Aint lower = -1, extent = -1;
        MPI_Type_size(types[t].type, &size);
        CHECK((size_t)size == types[t].size, "MPI-5.0 §5.1.5", "%s has size %d", types[t].name, size);
        MPI_Type_size_c(types[t].type, &big);
        CHECK_EQUAL(big, size, "MPI-5.0 §5.1.5");
        MPI_Type_get_extent(types[t].type, &lower, &extent);
        CHECK(lower == 0 && (size_t)extent == types[t].extent, "MPI-5.0 §5.1.7", "%s has extent %ld",
              types[t].name, (long)extent);
        MPI_Type_get_extent_c(types[t].type, &big_lower, &big_extent);
        CHECK(big_lower == lower && big_extent == extent, "MPI-5.0 §5.1.7");
    }
    for (size_t t = 0; t < sizeof optional / sizeof *optional; t++) {
        int size = -1;
        MPI_Type_size(optional[t].type, &size);
        CHECK(size == optional[t].size || size == MPI_UNDEFINED, "MPI-5.0 §20.3", "%s has size %d",
              optional[t].name, size);
    }
}

/* Types of a fixed size tell it in the bits 3 to 5 of their handles: MPI-5.0 §20.3. */
static void sizes_in_handles(void)
{
    static const MPI_Datatype fixed[] = {
        MPI_INT8_T, MPI_UINT8_T, MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_INT16_T,
        MPI_UINT16_T, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T,
    };
    for (size_t t = 0; t < sizeof fixed / sizeof *fixed; t++) {
        int size = -1;
        MPI_Type_size(fixed[t], &size);
        CHECK_EQUAL(size, 1 << ((uintptr_t)fixed[t] >> 3 & 7), "MPI-5.0 §20.3");
    }
}

/* Three elements of each type travel byte for byte; the padding of pairs is nobody's. */
static void messages(void)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        unsigned char out[128], in[128];
        MPI_Status status;
        memset(in, 0xCC, sizeof in);
        memset(out, 0, sizeof out);
        fill_pattern(out, 3 * types[t].extent, (unsigned)t);
        MPI_Sendrecv(out, 3, types[t].type, right_neighbour(), 1, in, 3, types[t].type, left_neighbour(),
                     1, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status_count(&status, types[t].type), 3, "MPI-5.0 §3.2.5");
        size_t first = types[t].size == types[t].extent ? 3 * types[t].size : 2;
        CHECK(has_pattern(in, first, (unsigned)t), "MPI-5.0 §3.2.2", "%s", types[t].name);
        CHECK(in[3 * types[t].extent] == 0xCC, "MPI-5.0 §3.2.4", "%s", types[t].name);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "predefined");
    sizes();
    sizes_in_handles();
    messages();
    return check_finish();
}
