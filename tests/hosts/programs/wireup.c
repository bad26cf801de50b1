/* wireup PPN: each rank's first message to each rank of other hosts, PPN on each, and from each: all at once, and once more. Rank 0 says "wireup FIRST
 * AGAIN DATAGRAMS QUEUE_PAIRS": microseconds that the slowest rank took, and of all ranks together the datagrams that they sent and the queue pairs
 * that they have then, by the tools' interface (MPI-5.0 §15.3.7). Nobody waits for anybody before: the launcher starts all. */
#include "check.h"
#include "../../robustness/programs/counters.h"

enum { BYTES = 8 };

static int ranks_a_host;

static double exchange(int round)
{
    MPI_Request *requests = memory(2 * (size_t)size * sizeof *requests);
    unsigned char *in = memory((size_t)size * BYTES), out[BYTES];
    int begun = 0;
    double begin = MPI_Wtime();
    fill(out, BYTES, rank, round);
    for (int peer = 0; peer < size; peer++) {
        if (peer / ranks_a_host == rank / ranks_a_host)
            continue;
        MPI_Irecv(in + (size_t)peer * BYTES, BYTES, MPI_BYTE, peer, round, MPI_COMM_WORLD, &requests[begun++]);
        MPI_Isend(out, BYTES, MPI_BYTE, peer, round, MPI_COMM_WORLD, &requests[begun++]);
    }
    MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
    double end = MPI_Wtime();
    for (int peer = 0; peer < size; peer++)
        REQUIRE(peer / ranks_a_host == rank / ranks_a_host || holds(in + (size_t)peer * BYTES, BYTES, peer, round));
    free(in), free(requests);
    return (end - begin) * 1e6;
}

int main(int words_count, char **words)
{
    int provided;
    unsigned long long mine[2], all[2];
    double times[2], slowest[2];
    begin(&words_count, &words);
    REQUIRE(words_count == 2);
    ranks_a_host = atoi(words[1]);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_handle datagrams = count("weft_rdma_datagrams", MPI_T_PVAR_CLASS_COUNTER);
    times[0] = exchange(0);
    mine[0] = counted(datagrams);
    mine[1] = counted(count("weft_rdma_queue_pairs", MPI_T_PVAR_CLASS_LEVEL));
    mine[1] += counted(count("weft_rdma_xrc_send_queue_pairs", MPI_T_PVAR_CLASS_LEVEL));
    times[1] = exchange(1);
    MPI_Reduce(times, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wireup %.1f %.1f %llu %llu\n", slowest[0], slowest[1], all[0], all[1]);
    end("wireup");
    MPI_T_finalize();
    return 0;
}
