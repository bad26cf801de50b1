/* Which predefined operation is allowed on which predefined type (MPI-5.0 §6.9.2): all the others are
 * MPI_ERR_OP, and none of the allowed ones is.
 * MPI_CHAR, and MPI_LAND, MPI_LOR and MPI_LXOR on MPI_AINT, MPI_OFFSET and MPI_COUNT, which the standard forbids and programs
 * use all the same, are left to the library.
 * ranks: 1 */
#include "expect.h"

/* The groups of types of §6.9.2, and beside them those that no operation is for. */
enum group { C_INTEGER, FORTRAN_INTEGER, FLOATING, LOGICAL, COMPLEX, BYTE, MULTI_LANGUAGE, PAIR, NEITHER };

#define TYPE(group, type) { type, #type, group }
static const struct {
    MPI_Datatype type;
    const char *name;
    enum group group;
} types[] = {
    TYPE(C_INTEGER, MPI_INT), TYPE(C_INTEGER, MPI_LONG), TYPE(C_INTEGER, MPI_SHORT),
    TYPE(C_INTEGER, MPI_UNSIGNED_SHORT), TYPE(C_INTEGER, MPI_UNSIGNED), TYPE(C_INTEGER, MPI_UNSIGNED_LONG),
    TYPE(C_INTEGER, MPI_LONG_LONG), TYPE(C_INTEGER, MPI_UNSIGNED_LONG_LONG),
    TYPE(C_INTEGER, MPI_SIGNED_CHAR), TYPE(C_INTEGER, MPI_UNSIGNED_CHAR), TYPE(C_INTEGER, MPI_INT8_T),
    TYPE(C_INTEGER, MPI_INT16_T), TYPE(C_INTEGER, MPI_INT32_T), TYPE(C_INTEGER, MPI_INT64_T),
    TYPE(C_INTEGER, MPI_UINT8_T), TYPE(C_INTEGER, MPI_UINT16_T), TYPE(C_INTEGER, MPI_UINT32_T),
    TYPE(C_INTEGER, MPI_UINT64_T), TYPE(FORTRAN_INTEGER, MPI_INTEGER), TYPE(FLOATING, MPI_FLOAT),
    TYPE(FLOATING, MPI_DOUBLE), TYPE(FLOATING, MPI_LONG_DOUBLE), TYPE(FLOATING, MPI_REAL),
    TYPE(FLOATING, MPI_DOUBLE_PRECISION), TYPE(LOGICAL, MPI_LOGICAL), TYPE(LOGICAL, MPI_C_BOOL),
    TYPE(LOGICAL, MPI_CXX_BOOL), TYPE(COMPLEX, MPI_COMPLEX), TYPE(COMPLEX, MPI_C_FLOAT_COMPLEX),
    TYPE(COMPLEX, MPI_C_DOUBLE_COMPLEX), TYPE(COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX),
    TYPE(COMPLEX, MPI_CXX_FLOAT_COMPLEX), TYPE(COMPLEX, MPI_CXX_DOUBLE_COMPLEX), TYPE(BYTE, MPI_BYTE),
    TYPE(MULTI_LANGUAGE, MPI_AINT), TYPE(MULTI_LANGUAGE, MPI_OFFSET), TYPE(MULTI_LANGUAGE, MPI_COUNT),
    TYPE(PAIR, MPI_FLOAT_INT), TYPE(PAIR, MPI_DOUBLE_INT), TYPE(PAIR, MPI_LONG_INT), TYPE(PAIR, MPI_2INT),
    TYPE(PAIR, MPI_SHORT_INT), TYPE(PAIR, MPI_LONG_DOUBLE_INT), TYPE(NEITHER, MPI_WCHAR),
    TYPE(NEITHER, MPI_CHARACTER), TYPE(NEITHER, MPI_PACKED),
};

#define IN(group) (1 << (group))
enum {
    ORDERED = IN(C_INTEGER) | IN(FORTRAN_INTEGER) | IN(FLOATING) | IN(MULTI_LANGUAGE),
    ARITHMETIC = ORDERED | IN(COMPLEX),
    TRUTH = IN(C_INTEGER) | IN(LOGICAL),
    BITS = IN(C_INTEGER) | IN(FORTRAN_INTEGER) | IN(BYTE) | IN(MULTI_LANGUAGE),
};

#define OPERATION(op, groups) { op, #op, groups }
static const struct {
    MPI_Op op;
    const char *name;
    int groups;
} operations[] = {
    OPERATION(MPI_MAX, ORDERED), OPERATION(MPI_MIN, ORDERED), OPERATION(MPI_SUM, ARITHMETIC),
    OPERATION(MPI_PROD, ARITHMETIC), OPERATION(MPI_LAND, TRUTH), OPERATION(MPI_LOR, TRUTH),
    OPERATION(MPI_LXOR, TRUTH), OPERATION(MPI_BAND, BITS), OPERATION(MPI_BOR, BITS),
    OPERATION(MPI_BXOR, BITS), OPERATION(MPI_MAXLOC, IN(PAIR)), OPERATION(MPI_MINLOC, IN(PAIR)),
    /* These are for one-sided communication alone: MPI-5.0 §12.3.4. */
    OPERATION(MPI_REPLACE, 0), OPERATION(MPI_NO_OP, 0),
};

int main(int argc, char **argv)
{
    static _Alignas(64) char in[64], out[64];
    expect_start(&argc, &argv, "operation_types");
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            int allowed = operations[o].groups & IN(types[t].group), size = 0;
            char detail[64];
            MPI_Type_size(types[t].type, &size);
            if (size == MPI_UNDEFINED || (types[t].group == MULTI_LANGUAGE && operations[o].groups == TRUTH))
                continue;
            snprintf(detail, sizeof detail, ": %s of %s", operations[o].name, types[t].name);
            int expected = allowed ? MPI_SUCCESS : MPI_ERR_OP;
            expect_class(__FILE__, __LINE__, "MPI_Allreduce", detail,
                         RESULT_OF(MPI_Allreduce(in, out, 1, types[t].type, operations[o].op,
                                                 MPI_COMM_SELF)),
                         expected, expected);
            expect_class(__FILE__, __LINE__, "MPI_Scan", detail,
                         RESULT_OF(MPI_Scan(in, out, 1, types[t].type, operations[o].op, MPI_COMM_SELF)),
                         expected, expected);
        }
    MPI_Datatype derived;
    MPI_Type_contiguous(2, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    EXPECT_EITHER(MPI_ERR_OP, MPI_ERR_TYPE, MPI_Allreduce(in, out, 1, derived, MPI_SUM, MPI_COMM_SELF));
    EXPECT_EITHER(MPI_ERR_OP, MPI_ERR_TYPE, MPI_Reduce(in, out, 1, derived, MPI_MAX, 0, MPI_COMM_SELF));
    EXPECT_EITHER(MPI_ERR_OP, MPI_ERR_TYPE, MPI_Exscan(in, out, 1, derived, MPI_BAND, MPI_COMM_SELF));
    MPI_Type_free(&derived);
    return expect_finish();
}
