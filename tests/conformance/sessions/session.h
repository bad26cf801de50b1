/* What programs share that use sessions instead of the world model: a communicator of all processes. */
#ifndef WEFT_TESTS_SESSION_H
#define WEFT_TESTS_SESSION_H

#include "check.h"

static inline MPI_Session open_session(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session), MPI_SUCCESS, "MPI-5.0 §11.3.1");
    CHECK(session != MPI_SESSION_NULL, "MPI-5.0 §11.3.1");
    return session;
}

static inline void close_session(MPI_Session *session)
{
    MPI_Session_finalize(session);
    CHECK(*session == MPI_SESSION_NULL, "MPI-5.0 §11.3.1");
}

static inline MPI_Comm comm_of_set(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* Every process of the communicator contributes to one sum, and passes its rank on round a ring. */
static inline void use_comm(MPI_Comm comm)
{
    int rank, size, sum = -1, got = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * (size - 1) / 2, "MPI-5.0 §7.4.2");
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5, comm,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, (rank + size - 1) % size, "MPI-5.0 §7.4.2");
}

/* Takes rank and size from a communicator of all processes. */
static inline void adopt_comm(MPI_Comm comm, const char *name)
{
    program_name = name;
    MPI_Comm_rank(comm, &rank_of_world);
    MPI_Comm_size(comm, &size_of_world);
}

/* As check_report, of a program that has no MPI_COMM_WORLD. */
static inline void report_on(MPI_Comm comm)
{
    MPI_Barrier(comm);
    if (rank_of_world == 0) {
        printf("ok %s checks=%ld\n", program_name, (long)checks_done);
        fflush(stdout);
    }
}

#endif
