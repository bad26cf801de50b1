/* computes SECONDS [first|many]: what is begun before a computation that calls nothing of MPI, and is waited for after it, arrives, whoever
 * computes meanwhile. Even ranks begin first messages, a short and a long one, to the odd ranks behind them, which wait; all exchange with
 * both neighbours, begin a barrier and a reduction, and compute; then the odd ranks compute while the even ones send and wait. With
 * `first` there are first messages alone; with `many` all begin a first message to rank 0 at once and compute; rank 0 waits, and computes itself before a second one. */
#include "check.h"
#include <time.h>

enum { LONG = 1 << 20 };
static double seconds;

/* Computes, as far as MPI can see. */
static void compute(void)
{
    struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&pause, NULL);
}

static void first_messages(int partner)
{
    unsigned char *data = memory(LONG);
    if (rank % 2 == 0 && partner < size) {
        MPI_Request both[2];
        fill(data, LONG, rank, 0);
        MPI_Isend(&rank, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(data, LONG, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &both[1]);
        compute();
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else if (rank % 2) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, LONG, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        REQUIRE(got == partner && holds(data, LONG, partner, 0));
    }
    free(data);
}

/* On a communicator of its own, which may have connections of its own. */
static void halo_and_collectives(void)
{
    MPI_Comm own;
    MPI_Request all[6];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got[2] = {-1, -1}, sum = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Irecv(&got[0], 1, MPI_INT, before, 0, own, &all[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, next, 1, own, &all[1]);
    MPI_Isend(&rank, 1, MPI_INT, next, 0, own, &all[2]);
    MPI_Isend(&rank, 1, MPI_INT, before, 1, own, &all[3]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, own, &all[4]);
    MPI_Ibarrier(own, &all[5]);
    compute();
    MPI_Waitall(6, all, MPI_STATUSES_IGNORE);
    REQUIRE(got[0] == before && got[1] == next && sum == size * (size - 1) / 2);
    MPI_Comm_free(&own);
}

static void late_receivers(int partner)
{
    unsigned char *data = memory(LONG);
    if (rank % 2 == 0 && partner < size) {
        fill(data, LONG, rank, 2);
        MPI_Send(data, LONG, MPI_BYTE, partner, 2, MPI_COMM_WORLD);
    } else if (rank % 2) {
        compute();
        MPI_Recv(data, LONG, MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        REQUIRE(holds(data, LONG, partner, 2));
    }
    free(data);
}

static void many_to_one(void)
{
    for (int message = 0; message < 2; message++) {
        if (rank) {
            MPI_Request request;
            MPI_Isend(&rank, 1, MPI_INT, 0, message, MPI_COMM_WORLD, &request);
            if (message == 0)
                compute();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            continue;
        }
        if (message == 1)
            compute();
        long sum = 0;
        for (int other = 1; other < size; other++) {
            int got;
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += got;
        }
        REQUIRE(sum == (long)size * (size - 1) / 2);
    }
}

int main(int count, char **words)
{
    begin(&count, &words);
    seconds = count > 1 ? atof(words[1]) : 1;
    const char *what = count > 2 ? words[2] : "";
    if (strcmp(what, "many") == 0) {
        many_to_one();
    } else {
        first_messages(rank ^ 1);
    }
    if (*what == 0) {
        halo_and_collectives();
        late_receivers(rank ^ 1);
    }
    end("computes");
}
