/* steady SECONDS: checked traffic of short and long messages and collectives for that long, whatever happens to the wire; each rank says
 * "running RANK PID" once it has heard of all. */
#include "check.h"
#include <unistd.h>

int main(int count, char **words)
{
    enum { MOST = 300000 };
    begin(&count, &words);
    double until = MPI_Wtime() + (count > 1 ? atof(words[1]) : 5), longest = 0;
    unsigned char *out = memory(MOST), *in = memory(MOST);
    int going = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("running %d %d\n", rank, (int)getpid());
    fflush(stdout);
    for (int round = 0; going; round++) {
        double begin = MPI_Wtime();
        for (int step = 1; step < size; step++) {
            int to = (rank + step) % size, from = (rank + size - step) % size, bytes = round * 7919 % (round % 10 ? 2000 : MOST);
            MPI_Request requests[2];
            fill(out, (size_t)bytes, rank, round);
            MPI_Irecv(in, bytes, MPI_BYTE, from, step, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(out, bytes, MPI_BYTE, to, step, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            REQUIRE(holds(in, (size_t)bytes, from, round));
        }
        long mine = rank + round, all;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        REQUIRE(all == (long)size * round + (long)size * (size - 1) / 2);
        going = MPI_Wtime() < until;
        MPI_Bcast(&going, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (MPI_Wtime() - begin > longest)
            longest = MPI_Wtime() - begin;
    }
    if (rank == 0)
        printf("longest round %.3f s\n", longest);
    free(out), free(in);
    end("steady");
    return 0;
}
