/* leftovers: what MPI opens, MPI closes. After MPI_Finalize a process has no more descriptors and threads than before
 * MPI_Init, but for its segment, which a session that it opens later will use; and a child started in between inherits none
 * of the library's descriptors. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Descriptors of this process that are not its segment. */
static int own_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[300], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%.200s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, "/memfd:weft", 11))
            count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

static int descriptors_of_a_child(void)
{
    int count = -1;
    FILE *child = popen("ls /proc/self/fd | wc -l", "r");
    if (!child || fscanf(child, "%d", &count) != 1)
        count = -1;
    if (child)
        pclose(child);
    return count;
}

int main(int argc, char **argv)
{
    static char out[1 << 20], in[1 << 20];
    int rank, size, ok = 1;
    int descriptors = own_descriptors(), threads = entries("/proc/self/task"), inherited = descriptors_of_a_child();

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(out, sizeof out, MPI_BYTE, (rank + 1) % size, 0, in, sizeof in, MPI_BYTE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int inherited_now = descriptors_of_a_child();
    MPI_Finalize();

    int descriptors_now = own_descriptors(), threads_now = entries("/proc/self/task");
    if (inherited < 0 || inherited_now > inherited)
        ok = fprintf(stderr, "leftovers: a child has %d descriptors, %d before MPI_Init\n", inherited_now, inherited) < 0;
    if (descriptors_now > descriptors)
        ok = fprintf(stderr, "leftovers: %d descriptors, %d before MPI_Init\n", descriptors_now, descriptors) < 0;
    if (threads_now > threads)
        ok = fprintf(stderr, "leftovers: %d threads, %d before MPI_Init\n", threads_now, threads) < 0;
    if (ok && rank == 0)
        printf("ok leftovers\n");
    return !ok;
}
