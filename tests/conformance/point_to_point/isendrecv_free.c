/* MPI_Request_free of a replacing exchange under way: it completes, and what it needed is given back. MPI-5.0 §3.7.3. */
#include "check.h"

#include <unistd.h>

enum { BYTES = 256 * 1024, EXCHANGES = 300 };

static long resident_kib(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm && fscanf(statm, "%*s %ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Nothing tells when the operation completes but the data themselves; probing makes progress. */
static void await_bytes(const volatile unsigned char *data, unsigned char expected)
{
    for (int i = 0, flag; i < BYTES; i++)
        while (data[i] != expected)
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    long before = 0;
    unsigned char *data;
    check_start(&argc, &argv, "isendrecv_free");
    data = need(BYTES);
    for (int i = 0; i < EXCHANGES; i++) {
        MPI_Request request;
        if (i == EXCHANGES / 10)
            before = resident_kib();
        memset(data, (i + rank_of_world) % 251, BYTES);
        MPI_Isendrecv_replace(data, BYTES, MPI_BYTE, right_neighbour(), 1, left_neighbour(), 1, MPI_COMM_WORLD,
                              &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL, "MPI-5.0 §3.7.3");
        await_bytes(data, (unsigned char)((i + left_neighbour()) % 251));
    }
    MPI_Barrier(MPI_COMM_WORLD);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while, and tells leaks itself */
    CHECK(resident_kib() - before < EXCHANGES / 2 * (BYTES / 1024), "memory of freed exchanges is given back");
#endif
    free(data);
    return check_finish();
}
