/* Wrong-argument programs: each call is wrong in one argument and has to return the standard's class.
 *
 * Unlike the conformance programs these go on after a failure, so that one run shows all of them. A call
 * that crashes is a failure as well, and the next one is tried. */
#ifndef WEFT_TESTS_EXPECT_H
#define WEFT_TESTS_EXPECT_H

#include "check.h"
#include <setjmp.h>
#include <signal.h>

/* The calls between a crash point and its return change no local variable. */
#pragma GCC diagnostic ignored "-Wclobbered"

enum { CRASHED = -1, ANY_ERROR = -2 };

static int expect_failures = 0;
static sigjmp_buf crash_point;

/* The class of what the call returns, or CRASHED. */
#define RESULT_OF(call) (sigsetjmp(crash_point, 1) ? CRASHED : class_of(call))

/* Holds the call to return the class `expected`; ANY_ERROR where the standard names no class. */
#define EXPECT(expected, call) \
    expect_class(__FILE__, __LINE__, #call, "", RESULT_OF(call), expected, expected)

/* As MPI_name reports, so does MPI_name_c: for functions of which the two forms take the same arguments in C. */
#define EXPECT_COUNTS(expected, name, ...) \
    do { \
        EXPECT(expected, MPI_##name(__VA_ARGS__)); \
        EXPECT(expected, MPI_##name##_c(__VA_ARGS__)); \
    } while (0)

#define EXPECT_COUNTS_EITHER(expected, other, name, ...) \
    do { \
        EXPECT_EITHER(expected, other, MPI_##name(__VA_ARGS__)); \
        EXPECT_EITHER(expected, other, MPI_##name##_c(__VA_ARGS__)); \
    } while (0)

/* For errors that two classes describe equally well. */
#define EXPECT_EITHER(expected, other, call) \
    expect_class(__FILE__, __LINE__, #call, "", RESULT_OF(call), expected, other)

static inline void expect_class(const char *file, int line, const char *call, const char *detail, int got,
                                int expected, int other)
{
    checks_done++;
    if (got != CRASHED && (got == expected || got == other || (expected == ANY_ERROR && got != MPI_SUCCESS)))
        return;
    expect_failures++;
    if (got == CRASHED)
        fprintf(stderr, "%s:%d: rank %d: %s%s: crashed\n", file, line, rank_of_world, call, detail);
    else
        fprintf(stderr, "%s:%d: rank %d: %s%s: class %d, expected %d\n", file, line, rank_of_world, call,
                detail, got, expected);
}

static inline void leave_crash(int signal_number)
{
    (void)signal_number;
    siglongjmp(crash_point, 1);
}

static inline void return_errors(MPI_Comm comm) { MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

static inline void expect_start(int *argc, char ***argv, const char *name)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    check_start(argc, argv, name);
    return_errors(MPI_COMM_WORLD);
    /* Errors that belong to no communicator are raised on MPI_COMM_SELF: MPI-5.0 §9.3. */
    return_errors(MPI_COMM_SELF);
    struct sigaction action = { .sa_handler = leave_crash, .sa_flags = SA_NODEFER };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* A duplicate of the world that returns errors, after as many barriers as let those of one host share memory. */
static inline MPI_Comm used_duplicate(void)
{
    enum { BARRIERS = 12 };
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return_errors(comm);
    for (int i = 0; i < BARRIERS; i++)
        EXPECT(MPI_SUCCESS, MPI_Barrier(comm));
    return comm;
}

static inline int expect_finish(void)
{
    if (expect_failures == 0)
        return check_finish();
    fprintf(stderr, "rank %d: %d of %ld wrong calls were not handled\n", rank_of_world, expect_failures,
            (long)checks_done);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

#endif
