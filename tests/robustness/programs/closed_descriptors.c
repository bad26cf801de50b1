/* closed_descriptors FILE [later]: what a program writes to those of descriptors 0 to 2 that it was started without, or that it has
 * closed itself after MPI_Init (later), reaches nothing of the library's: each write fails as without MPI, at every moment of a
 * life of messages, communicators, windows and files. Rank 0 prints "ok closed_descriptors ranks=N" into FILE.result. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 18, PAUSE_US = 100 };

static int rank, size, is_closed[3];
static atomic_int has_ended, has_reached;

static void note_closed(void)
{
    for (int number = 0; number < 3; number++)
        is_closed[number] = fcntl(number, F_GETFD) < 0;
}

static void *write_all_the_time(void *unused)
{
    for (; !atomic_load(&has_ended); usleep(PAUSE_US))
        for (int number = 0; number < 3; number++) {
            if (is_closed[number] && (write(number, "text", 4) >= 0 || errno != EBADF))
                atomic_store(&has_reached, 1);
        }
    return unused;
}

static void exchange(MPI_Comm comm, int *out, int *in, int count)
{
    int left = (rank + size - 1) % size;
    for (int i = 0; i < count; i++)
        out[i] = i + rank, in[i] = -1;
    MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, 0, in, count, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        if (in[i] != i + left)
            MPI_Abort(MPI_COMM_WORLD, 4);
}

static void in_windows(int *memory)
{
    MPI_Win window;
    int *part, value = rank;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Win_create(memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void in_files(const char *name)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    pthread_t writer;
    int provided, *memory = malloc(2 * LONG * sizeof(int)), reached, is_later = argc > 2 && strcmp(argv[2], "later") == 0;
    if (memory == NULL)
        return 2;
    if (!is_later) {
        note_closed();
        pthread_create(&writer, NULL, write_all_the_time, NULL);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is_later) {
        close(0), close(1), close(2);
        note_closed();
        pthread_create(&writer, NULL, write_all_the_time, NULL);
    }
    for (int count = 1; count <= LONG; count *= 64)
        exchange(MPI_COMM_WORLD, memory, memory + LONG, count);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    exchange(other, memory, memory + LONG, LONG);
    MPI_Comm_free(&other);
    in_windows(memory);
    in_files(argv[1]);
    int here = atomic_load(&has_reached);
    MPI_Reduce(&here, &reached, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    atomic_store(&has_ended, 1);
    pthread_join(writer, NULL);
    if (rank == 0) {
        char name[1000];
        snprintf(name, sizeof name, "%s.result", argv[1]);
        FILE *result = fopen(name, "w");
        if (result == NULL)
            return 5;
        fprintf(result, reached ? "on %d ranks text reached something\n" : "ok closed_descriptors ranks=%d\n", reached ? reached : size);
        fclose(result);
    }
    return 0;
}
