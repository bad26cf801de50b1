/* Accesses that their origin does not flush are over some time, as long as it makes progress: a program may wait for what follows from them
 * (MPI-5.0 §12.7.3), as the queued lock of Mellor-Crummey and Scott does.
 * ranks: 2,4,5 */
#include "check.h"

enum { ROUNDS = 20, ACK = 7 };

static MPI_Win win;
static volatile int *memory;

/* Adds one to what the target's memory holds, by either kind of access that has no answer. What it puts stays as it is until the access is
 * over at the origin (MPI-5.0 §12.3), which is before the next round: what the program waits for there follows from it. */
static void tell(int target, int round)
{
    static const int one = 1;
    static int now;
    now = round + 1;
    if (round % 2)
        MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
    else
        MPI_Put(&now, 1, MPI_INT, target, 0, 1, MPI_INT, win);
}

static void wait_for(int value, int flushes)
{
    while (*memory != value) {
        if (flushes)
            MPI_Win_flush(rank_of_world, win);
        MPI_Win_sync(win);
    }
    checks_done++;
}

/* Each waits for its left neighbour by calls that concern its own part alone. */
static void ring(int flushes)
{
    for (int round = 0; round < ROUNDS; round++) {
        tell(right_neighbour(), round);
        wait_for(round + 1, flushes);
        /* The next is told by a Put, which must not overtake what its target waits for. */
        MPI_Win_flush_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* One of two waits for a message that the other sends once it has been told. */
static void acknowledged(int teller, int polls)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (rank_of_world != teller) {
            wait_for(round + 1, 0);
            MPI_Send(NULL, 0, MPI_INT, partner(), ACK, MPI_COMM_WORLD);
            continue;
        }
        tell(partner(), round);
        for (int is_here = 0; polls && !is_here;)
            MPI_Iprobe(partner(), ACK, MPI_COMM_WORLD, &is_here, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_INT, partner(), ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void begin_at_zero(void)
{
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
}

int main(int argc, char **argv)
{
    int *base;
    check_start(&argc, &argv, "unflushed");
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memory = base;
    MPI_Win_lock_all(0, win);
    for (int flushes = 0; flushes < 2; flushes++) {
        begin_at_zero();
        ring(flushes);
    }
    for (int polls = 0; polls < 2; polls++)
        for (int first = 0; first < 2; first++) {
            int other = partner(), lower = rank_of_world < other ? rank_of_world : other;
            begin_at_zero();
            if (other != rank_of_world)
                acknowledged(lower + first, polls);
        }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return check_finish();
}
