/* ways: all ranks talk to all, on the world alone. Each then says "ways RANK SHM RDMA TCP", how many links it has by each, by the tools'
 * interface (MPI-5.0 §15.3.7). */
#include "check.h"
#include "../../robustness/programs/counters.h"

enum { LONGEST = 100000, WAYS = 3 };
static const char *const NAMES[WAYS] = {"weft_shm_links", "weft_rdma_links", "weft_tcp_links"};

static void talk(void)
{
    unsigned char *out = memory(LONGEST), *in = memory(LONGEST);
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        for (int bytes = 1; bytes <= LONGEST; bytes *= 10) {
            fill(out, (size_t)bytes, rank, bytes);
            MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            REQUIRE(holds(in, (size_t)bytes, from, bytes));
        }
    }
    free(out), free(in);
}

int main(int count_of_words, char **words)
{
    int provided;
    unsigned long long mine[WAYS], *all;
    begin(&count_of_words, &words);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    talk();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WAYS; i++)
        mine[i] = counted(count(NAMES[i], MPI_T_PVAR_CLASS_LEVEL));
    all = memory((size_t)size * sizeof mine);
    MPI_Gather(mine, WAYS, MPI_UNSIGNED_LONG_LONG, all, WAYS, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int of = 0; rank == 0 && of < size; of++)
        printf("ways %d %llu %llu %llu\n", of, all[of * WAYS], all[of * WAYS + 1], all[of * WAYS + 2]);
    free(all);
    end("ways");
    MPI_T_finalize();
    return 0;
}
