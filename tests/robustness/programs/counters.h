/* Counters of the tools' interface (MPI-5.0 §15.3.7), which MPI_T_init_thread comes before. */
#ifndef WEFT_TESTS_COUNTERS_H
#define WEFT_TESTS_COUNTERS_H

#include <mpi.h>
#include <stdio.h>

static MPI_T_pvar_session counting = MPI_T_PVAR_SESSION_NULL;

/* Counts from here on; a level, which is never started, is what it is now. A name that is not known ends the job. */
static inline MPI_T_pvar_handle count(const char *name, int class)
{
    int index, ignored;
    MPI_T_pvar_handle handle;
    if (counting == MPI_T_PVAR_SESSION_NULL)
        MPI_T_pvar_session_create(&counting);
    if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) {
        fprintf(stderr, "no performance variable %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_T_pvar_handle_alloc(counting, index, NULL, &handle, &ignored);
    if (class == MPI_T_PVAR_CLASS_COUNTER)
        MPI_T_pvar_start(counting, handle);
    return handle;
}

static inline unsigned long long counted(MPI_T_pvar_handle handle)
{
    unsigned long long value;
    MPI_T_pvar_read(counting, handle, &value);
    return value;
}
#endif
