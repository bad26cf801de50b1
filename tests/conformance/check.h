/* What every conformance program shares: the check itself, start and end, patterned buffers, neighbours.
 *
 * A program checks clauses of the standard one by one. A failed check names the place, the rank and the
 * clause, and ends the whole job; a program that reaches its end says so once, from rank 0. */
#ifndef WEFT_TESTS_CHECK_H
#define WEFT_TESTS_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank_of_world = -1; /* written once by check_start */
static int size_of_world = 0;  /* written once by check_start */
static const char *program_name = "?";
/* Counted by every thread of the program; relaxed, read after the threads have been joined. */
static _Atomic long checks_done = 0;

/* Holds `cond` to be true by `clause`; the format and arguments after the clause are optional. */
#define CHECK(cond, ...) \
    do { \
        checks_done++; \
        if (!(cond)) \
            check_failed(__FILE__, __LINE__, #cond, __VA_ARGS__, ""); \
    } while (0)

/* Holds two integers to be equal by `clause`, and shows both when they are not. */
#define CHECK_EQUAL(actual, expected, clause) \
    do { \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected); \
        CHECK(actual_ == expected_, clause, #actual " is %lld, expected %lld", actual_, expected_); \
    } while (0)

/* Holds the call to return an error code of the class `expected`. */
#define CHECK_CLASS(call, expected, clause) CHECK_EQUAL(class_of(call), expected, clause)

/* One line in one write, so that the ranks' lines do not mix. */
static inline void check_say_failed(const char *file, int line, const char *cond, const char *clause,
                                    const char *format, va_list args)
{
    char text[2048];
    int used = snprintf(text, sizeof text / 2, "%s:%d: rank %d: %s: not (%s)%s", file, line,
                        rank_of_world, clause, cond, *format ? ": " : "");
    if (used > (int)sizeof text / 2 - 1)
        used = (int)sizeof text / 2 - 1;
    used += vsnprintf(text + used, sizeof text / 4, format, args);
    fprintf(stderr, "%.*s\n", used, text);
    fflush(stderr);
}

static inline void check_failed(const char *file, int line, const char *cond, const char *clause,
                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check_say_failed(file, line, cond, clause, format, args);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static inline int class_of(int code)
{
    int class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &class);
    return class;
}

static inline void check_adopt_world(const char *name)
{
    program_name = name;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_world);
    MPI_Comm_size(MPI_COMM_WORLD, &size_of_world);
}

static inline void check_start(int *argc, char ***argv, const char *name)
{
    MPI_Init(argc, argv);
    check_adopt_world(name);
}

/* Starts with the thread level MPI_THREAD_MULTIPLE; a library that does not provide it fails. */
static inline void check_start_threads(int *argc, char ***argv, const char *name)
{
    int provided = -1;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    check_adopt_world(name);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE, "MPI-5.0 §11.6.2");
}

/* For programs that are to fail: tells their failure from that of a library that cannot start. */
static inline void check_say_started(const char *name)
{
    printf("started %s\n", name);
    fflush(stdout);
}

/* Says that the program ended well. The barrier makes rank 0 speak for every rank. */
static inline void check_report(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world == 0) {
        printf("ok %s checks=%ld\n", program_name, (long)checks_done);
        fflush(stdout);
    }
}

static inline int check_finish(void)
{
    check_report();
    MPI_Finalize();
    return 0;
}

static inline int right_neighbour(void) { return (rank_of_world + 1) % size_of_world; }
static inline int left_neighbour(void) { return (rank_of_world + size_of_world - 1) % size_of_world; }

/* The rank this one exchanges with: 0 with 1, 2 with 3; an odd one out exchanges with itself. */
static inline int partner(void)
{
    int other = rank_of_world ^ 1;
    return other < size_of_world ? other : rank_of_world;
}

/* Eight bytes of the pattern that `seed` names. */
static inline uint64_t pattern_word(size_t index, unsigned seed)
{
    uint64_t x = (index + 1) * 0x9E3779B97F4A7C15u + (uint64_t)seed * 0xD1B54A32D192ED03u;
    x ^= x >> 31;
    return x * 0x94D049BB133111EBu;
}

static inline void fill_pattern(void *buffer, size_t bytes, unsigned seed)
{
    unsigned char *at = buffer;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = pattern_word(i / 8, seed);
        memcpy(at + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static inline int has_pattern(const void *buffer, size_t bytes, unsigned seed)
{
    const unsigned char *at = buffer;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = pattern_word(i / 8, seed);
        if (memcmp(at + i, &word, bytes - i < 8 ? bytes - i : 8) != 0)
            return 0;
    }
    return 1;
}

/* Memory or the end of the program. */
static inline void *need(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 2);
        exit(2);
    }
    return memory;
}

static inline int status_count(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    MPI_Get_count(status, type, &count);
    return count;
}

/* The empty status: MPI-5.0 §3.7.3. */
static inline int status_is_empty(const MPI_Status *status)
{
    int cancelled = -1;
    MPI_Test_cancelled(status, &cancelled);
    return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && status->MPI_ERROR == MPI_SUCCESS
        && !cancelled && status_count(status, MPI_BYTE) == 0;
}

/* The status of communication with MPI_PROC_NULL: MPI-5.0 §3.11. */
static inline int status_is_proc_null(const MPI_Status *status)
{
    return status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG
        && status_count(status, MPI_BYTE) == 0;
}

#endif
