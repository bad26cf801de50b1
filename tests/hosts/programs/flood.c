/* flood MESSAGES [BYTES]: all ranks flood rank 0, which looks away meanwhile and then takes everything, in order, from whom it comes; then all flood
 * their right neighbours. Rank 0 says how much memory it took at most. */
#include "check.h"
#include <sys/resource.h>
#include <unistd.h>

enum { WINDOW = 1024 };

static unsigned char buffers[WINDOW][4096];
static MPI_Request requests[WINDOW];

static void pour(int to, long messages, int bytes)
{
    for (long i = 0; i < messages; i++) {
        int at = (int)(i % WINDOW);
        if (i >= WINDOW)
            MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
        memcpy(buffers[at], &i, sizeof i);
        MPI_Isend(buffers[at], bytes, MPI_BYTE, to, 5, MPI_COMM_WORLD, &requests[at]);
    }
    MPI_Waitall(messages < WINDOW ? (int)messages : WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void drink(int from, long messages, int bytes)
{
    long *next = calloc((size_t)size, sizeof *next), number;
    unsigned char buffer[4096];
    REQUIRE(next != NULL);
    for (long i = 0; i < messages; i++) {
        MPI_Status status;
        MPI_Recv(buffer, bytes, MPI_BYTE, from, 5, MPI_COMM_WORLD, &status);
        memcpy(&number, buffer, sizeof number);
        REQUIRE(number == next[status.MPI_SOURCE]++);
    }
    free(next);
}

int main(int count, char **words)
{
    begin(&count, &words);
    long messages = count > 1 ? atol(words[1]) : 10000;
    int bytes = count > 2 ? atoi(words[2]) : 8;
    REQUIRE(bytes >= (int)sizeof(long) && bytes <= 4096 && size > 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(500000);
        drink(MPI_ANY_SOURCE, messages * (size - 1), bytes);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("flood: rank 0 took at most %ld KiB\n", usage.ru_maxrss);
    } else {
        pour(0, messages, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* Both ways at once: half of the ranks send first. */
    if (rank % 2 == 0 && !(rank == 0 && size % 2 == 1))
        pour((rank + 1) % size, messages / 10, bytes), drink((rank + size - 1) % size, messages / 10, bytes);
    else
        drink((rank + size - 1) % size, messages / 10, bytes), pour((rank + 1) % size, messages / 10, bytes);
    end("flood");
    return 0;
}
