/* lowered LEFT: after MPI_Init the program lowers its limit of descriptors, so that LEFT more can be opened; then every rank talks to every other, in
 * communicators of all lanes. */
#include "check.h"
#include <dirent.h>
#include <sys/resource.h>

enum { LANES = 16 };

/* The highest descriptor in use: the limit is of their numbers, not of how many there are. */
static int highest(void)
{
    int last = 0;
    DIR *folder = opendir("/proc/self/fd");
    REQUIRE(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (atoi(entry->d_name) > last && atoi(entry->d_name) != dirfd(folder))
            last = atoi(entry->d_name);
    closedir(folder);
    return last;
}

int main(int count, char **words)
{
    begin_with_threads(&count, &words);
    REQUIRE(count > 1);
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = (rlim_t)(highest() + 1 + atoi(words[1]));
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    MPI_Comm comms[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[lane]);
        for (int distance = 1; distance < size; distance++) {
            int to = (rank + distance) % size, from = (rank + size - distance) % size, got = -1;
            MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, comms[lane], MPI_STATUS_IGNORE);
            REQUIRE(got == from);
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        MPI_Comm_free(&comms[lane]);
    end("lowered");
    return 0;
}
