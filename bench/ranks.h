/* What the MPI benchmarks share: start and end of the program, and sampling with all ranks in step. */
#ifndef WEFT_BENCH_RANKS_H
#define WEFT_BENCH_RANKS_H

#include "bench.h"
#include <mpi.h>
#include <stdarg.h>

static int my_rank, rank_count;

__attribute__((noreturn, format(printf, 1, 2))) static inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d: ", my_rank);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Prints text as a JSON string. */
static inline void print_text(const char *text)
{
    putchar('"');
    for (; *text && *text != '\n'; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text >= ' ')
            putchar(*text);
    putchar('"');
}

/* The first line of every run: which library this is and where its ranks may run. */
static inline void print_start(const char *bench)
{
    enum { ROOM = 128 };
    char mine[ROOM], version[MPI_MAX_LIBRARY_VERSION_STRING];
    char *all = pages((size_t)rank_count * ROOM);
    int length;
    processors(mine, ROOM);
    MPI_Gather(mine, ROOM, MPI_CHAR, all, ROOM, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Get_library_version(version, &length);
    if (my_rank == 0) {
        printf("{\"bench\":\"%s\",\"ranks\":%d,\"library\":", bench, rank_count);
        print_text(version);
        printf(",\"processors\":[");
        for (int i = 0; i < rank_count; i++) {
            if (i)
                putchar(',');
            print_text(all + i * ROOM);
        }
        printf("]}\n");
        fflush(stdout);
    }
    free(all);
}

/* Initialises MPI; `ranks` is the number the program needs, 0 for any. */
static inline void start(int *argc, char ***argv, const char *bench, int level, int ranks)
{
    int provided;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    if (provided < level)
        fail("%s: the library does not provide the thread level that this needs", bench);
    if (ranks && rank_count != ranks)
        fail("%s: runs on %d ranks, not on %d", bench, ranks, rank_count);
    print_start(bench);
}

/* Work that is called on every rank with the same number of repetitions. */
typedef void work(void *state, long repetitions);

/* Samples `run` on all ranks; rank 0 keeps the time, and its samples alone mean something. */
static inline void measure(work *run, void *state, double budget, struct sampler *s)
{
    sampler_start(s, budget);
    for (long repetitions = 1;;) {
        MPI_Bcast(&repetitions, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (!repetitions)
            return;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = seconds_now();
        run(state, repetitions);
        repetitions = sampler_next(s, seconds_now() - begin);
    }
}

/* The same of several states, a batch of each in turn, so that what drifts on the machine meets all alike. */
static inline void measure_in_turn(work *run, void *const states[], int count, double budget, struct sampler samplers[])
{
    long repetitions[count];
    for (int i = 0; i < count; i++) {
        sampler_start(&samplers[i], budget);
        repetitions[i] = 1;
    }
    for (bool over = false; !over;) {
        MPI_Bcast(repetitions, count, MPI_LONG, 0, MPI_COMM_WORLD);
        over = true;
        for (int i = 0; i < count; i++) {
            if (!repetitions[i])
                continue;
            over = false;
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = seconds_now();
            run(states[i], repetitions[i]);
            repetitions[i] = sampler_next(&samplers[i], seconds_now() - begin);
        }
    }
}
#endif
