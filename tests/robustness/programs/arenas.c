/* arenas COMMUNICATORS: so many are duplicated, used so much that they get memory that all ranks share, and freed, in batches.
 * Neither memory nor mappings nor descriptors grow. "ok arenas SECONDS". */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 64, OPERATIONS = 10, WARM_BATCHES = 16, SLACK_KIB = 4096, SLACK = 40 };

static int rank, size;

static long entries(const char *folder)
{
    long count = 0;
    DIR *directory = opendir(folder);
    while (directory && readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static long lines(const char *path)
{
    long count = 0;
    FILE *file = fopen(path, "r");
    for (int c; (c = getc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

struct use {
    long kib, mappings, descriptors;
};

static struct use use(void)
{
    return (struct use){ resident_kib(), lines("/proc/self/maps"), entries("/proc/self/fd") };
}

static void batch(int number)
{
    MPI_Comm comms[BATCH];
    for (int i = 0; i < BATCH; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < OPERATIONS; j++) {
            int word = rank + number + i + j, most = -1;
            MPI_Allreduce(&word, &most, 1, MPI_INT, MPI_MAX, comms[i]);
            if (most != size - 1 + number + i + j) {
                printf("rank %d: batch %d: %d\n", rank, number, most);
                exit(3);
            }
        }
    for (int i = 0; i < BATCH; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
    struct use before = { 0 }, after;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begin = MPI_Wtime();
    int batches = atoi(argv[1]) / BATCH;
    for (int number = 0; number < batches; number++) {
        if (number == WARM_BATCHES)
            before = use();
        batch(number);
    }
    after = use();
    if (after.kib > before.kib + SLACK_KIB || after.mappings > before.mappings + SLACK
        || after.descriptors > before.descriptors) {
        printf("rank %d: KiB %ld to %ld, mappings %ld to %ld, descriptors %ld to %ld\n", rank, before.kib, after.kib,
               before.mappings, after.mappings, before.descriptors, after.descriptors);
        exit(4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("ok arenas %.1f s\n", MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
