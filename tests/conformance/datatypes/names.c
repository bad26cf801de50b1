/* Names of datatypes: MPI-5.0 §7.8. */
#include "check.h"

static void holds(MPI_Datatype type, const char *name)
{
    char got[MPI_MAX_OBJECT_NAME];
    int length = -1;
    memset(got, '?', sizeof got);
    MPI_Type_get_name(type, got, &length);
    CHECK(strcmp(got, name) == 0 && length == (int)strlen(name), "MPI-5.0 §7.8", "%s, not %s", got, name);
}

#define PREDEFINED(type) holds(type, #type)

int main(int argc, char **argv)
{
    MPI_Datatype type, copy;
    char longest[MPI_MAX_OBJECT_NAME];
    check_start(&argc, &argv, "names");
    PREDEFINED(MPI_CHAR);
    PREDEFINED(MPI_INT);
    PREDEFINED(MPI_UNSIGNED_LONG);
    PREDEFINED(MPI_DOUBLE);
    PREDEFINED(MPI_LONG_DOUBLE);
    PREDEFINED(MPI_BYTE);
    PREDEFINED(MPI_PACKED);
    PREDEFINED(MPI_INT32_T);
    PREDEFINED(MPI_UINT64_T);
    PREDEFINED(MPI_AINT);
    PREDEFINED(MPI_C_BOOL);
    PREDEFINED(MPI_C_FLOAT_COMPLEX);
    /* A synonym is the same handle in the ABI, so it has the name of what it stands for. */
    holds(MPI_C_COMPLEX, "MPI_C_FLOAT_COMPLEX");
    PREDEFINED(MPI_C_DOUBLE_COMPLEX);
    PREDEFINED(MPI_2INT);
    PREDEFINED(MPI_DOUBLE_INT);
    PREDEFINED(MPI_DOUBLE_PRECISION);
    PREDEFINED(MPI_DATATYPE_NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    holds(type, "");
    MPI_Type_set_name(type, "two of them");
    holds(type, "two of them");
    MPI_Type_dup(type, &copy);
    holds(copy, "");
    MPI_Type_set_name(type, "");
    holds(type, "");
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    MPI_Type_set_name(copy, longest);
    holds(copy, longest);
    MPI_Type_set_name(MPI_INT, "renamed");
    holds(MPI_INT, "renamed");
    MPI_Type_set_name(MPI_INT, "MPI_INT");
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
    return check_finish();
}
