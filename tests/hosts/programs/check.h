/* What the programs share: requirements that name rank and place, patterns that tell owner and position, sizes around every limit. */
#ifndef CHECK_H
#define CHECK_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: rank %d: not so: %s\n", file, line, rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

#define REQUIRE(condition) ((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))

/* Around what libraries treat differently: nothing, a cache line, a packet, eager limits, socket buffers, a whole piece. */
static const int SIZES[] = {0,     1,     7,     40,    41,     63,     64,     65,     1000,   1447,    1448,    1449,    4096,   8191,
                            16383, 16384, 16385, 30000, 65535,  65536,  65537,  131072, 262143, 524288,  524289,  1048575, 1048576, 4194304, 4194305};
enum { SIZES_COUNT = sizeof SIZES / sizeof *SIZES, LARGEST = 4194305 };

static inline unsigned char pattern(int owner, int salt, size_t i) { return (unsigned char)(i * 7 + (i >> 8) * 3 + (size_t)owner * 13 + (size_t)salt * 29); }

static inline void fill(unsigned char *to, size_t bytes, int owner, int salt)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = pattern(owner, salt, i);
}

static inline int holds(const unsigned char *at, size_t bytes, int owner, int salt)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != pattern(owner, salt, i))
            return 0;
    return 1;
}

static inline void *memory(size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);
    REQUIRE(made != NULL);
    return made;
}

/* How many hosts the ranks are on, by what MPI says of shared memory. */
static inline int count_hosts(void)
{
    MPI_Comm near;
    int near_rank, first, hosts;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_rank(near, &near_rank);
    first = near_rank == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&near);
    return hosts;
}

static inline void begin(int *count, char ***words)
{
    MPI_Init(count, words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* As a program whose threads call at once: its communicators have all lanes. */
static inline void begin_with_threads(int *count, char ***words)
{
    int provided;
    MPI_Init_thread(count, words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline void end(const char *name)
{
    int hosts = count_hosts();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("ok %s ranks=%d hosts=%d\n", name, size, hosts);
    MPI_Finalize();
}
#endif
