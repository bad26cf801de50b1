/* What the programs of the tool interface share: values of performance variables by name. */
#ifndef WEFT_TESTS_CHECK_TOOLS_H
#define WEFT_TESTS_CHECK_TOOLS_H

#include "check.h"

typedef unsigned long long number;

/* The index of a performance variable, whatever its class. */
static inline int variable_index(const char *name)
{
    for (int class = MPI_T_PVAR_CLASS_STATE; class <= MPI_T_PVAR_CLASS_GENERIC; class++) {
        int index = -1;
        if (MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS)
            return index;
    }
    CHECK(0, "MPI-5.0 §15.3.7", "no variable %s", name);
    return -1;
}

static inline MPI_T_pvar_handle variable(MPI_T_pvar_session session, const char *name)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, variable_index(name), NULL, &handle, &count), MPI_SUCCESS,
                "MPI-5.0 §15.3.7");
    CHECK(handle != MPI_T_PVAR_HANDLE_NULL && handle != MPI_T_PVAR_ALL_HANDLES, "MPI-5.0 §15.3.7");
    CHECK_EQUAL(count, 1, "MPI-5.0 §15.3.7");
    return handle;
}

static inline number value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    number value = ~0ull;
    CHECK_EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS, "MPI-5.0 §15.3.7");
    return value;
}

#endif
