/* remote: one-sided accesses of every kind between all pairs of ranks, under every synchronisation, against what must be there. */
#include "check.h"

enum { ELEMENTS = 40000 };

static long *base;
static MPI_Win window;

static long stored(int by, int at, int i) { return (long)by * 1000003 + (long)at * 101 + i; }

static void clear(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    memset(base, 0, ELEMENTS * sizeof *base);
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank has a part of every rank's window. */
static int part(void) { return ELEMENTS / size; }

static void write_all(int how, long *from)
{
    for (int peer = 0; peer < size; peer++) {
        for (int i = 0; i < part(); i++)
            from[i] = stored(rank, peer, i);
        if (how == 1)
            MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, window);
        MPI_Put(from, part(), MPI_LONG, peer, (MPI_Aint)rank * part(), part(), MPI_LONG, window);
        if (how == 0)
            MPI_Win_fence(0, window);
        else if (how == 1)
            MPI_Win_unlock(peer, window);
        else
            MPI_Win_flush(peer, window);
    }
}

static void read_all(long *into)
{
    MPI_Win_lock_all(0, window);
    for (int peer = 0; peer < size; peer++) {
        memset(into, 0, ELEMENTS * sizeof *into);
        MPI_Get(into, part() * size, MPI_LONG, peer, 0, part() * size, MPI_LONG, window);
        MPI_Win_flush(peer, window);
        for (int by = 0; by < size; by++)
            for (int i = 0; i < part(); i++)
                REQUIRE(into[by * part() + i] == stored(by, peer, i));
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void put_and_get(long *memory_of_mine)
{
    for (int how = 0; how < 3; how++) {
        clear();
        if (how == 0)
            MPI_Win_fence(0, window);
        if (how == 2)
            MPI_Win_lock_all(0, window);
        write_all(how, memory_of_mine);
        if (how == 2)
            MPI_Win_unlock_all(window);
        MPI_Barrier(MPI_COMM_WORLD);
        read_all(memory_of_mine);
    }
}

static void neighbours(long *from)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Group world, to, of;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &of);
    clear();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < ELEMENTS; i++)
            from[i] = stored(rank, round, i);
        MPI_Win_post(of, 0, window);
        MPI_Win_start(to, 0, window);
        MPI_Put(from, ELEMENTS, MPI_LONG, right, 0, ELEMENTS, MPI_LONG, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
        for (int i = 0; i < ELEMENTS; i++)
            REQUIRE(base[i] == stored(left, round, i));
    }
    MPI_Group_free(&to);
    MPI_Group_free(&of);
    MPI_Group_free(&world);
}

static void atomics(void)
{
    enum { TIMES = 200 };
    long one = 1, before, last = -1, zero = 0, big[64], taken = 0;
    clear();
    for (int i = 0; i < 64; i++)
        big[i] = i;
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < TIMES; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        REQUIRE(before > last && before < (long)TIMES * size);
        last = before;
        MPI_Accumulate(big, 64, MPI_LONG, (rank + i) % size, 8, 64, MPI_LONG, MPI_SUM, window);
    }
    /* A lock made of compare-and-swap: what it guards is changed by a get and a put. */
    for (int i = 0; i < 20; i++) {
        long mine = rank + 1, found, count;
        do {
            MPI_Compare_and_swap(&mine, &zero, &found, MPI_LONG, size - 1, 1, window);
            MPI_Win_flush(size - 1, window);
        } while (found != 0);
        MPI_Get_accumulate(NULL, 0, MPI_LONG, &count, 1, MPI_LONG, size - 1, 2, 1, MPI_LONG, MPI_NO_OP, window);
        MPI_Win_flush(size - 1, window);
        count++;
        MPI_Accumulate(&count, 1, MPI_LONG, size - 1, 2, 1, MPI_LONG, MPI_REPLACE, window);
        MPI_Win_flush(size - 1, window);
        MPI_Accumulate(&zero, 1, MPI_LONG, size - 1, 1, 1, MPI_LONG, MPI_REPLACE, window);
        MPI_Win_flush(size - 1, window);
        taken++;
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    REQUIRE(taken == 20 && (rank != 0 || base[0] == (long)TIMES * size) && (rank != size - 1 || base[2] == 20L * size));
    /* Over all ranks, TIMES accumulates from each. */
    long sum = 0, total;
    for (int i = 0; i < 64; i++)
        sum += base[8 + i];
    MPI_Win_unlock(rank, window);
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    REQUIRE(total == (long)TIMES * size * (63 * 64 / 2));
}

/* The target computes and calls nothing: the accesses complete all the same (MPI-5.0 §12.7.3). */
static void passive(void)
{
    long value = 42, got = 0;
    clear();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, window);
        MPI_Put(&value, 1, MPI_LONG, size - 1, 5, 1, MPI_LONG, window);
        MPI_Get(&got, 1, MPI_LONG, size - 1, 6, 1, MPI_LONG, window);
        MPI_Win_unlock(size - 1, window);
        REQUIRE(got == 0);
        MPI_Send(NULL, 0, MPI_BYTE, size - 1, 1, MPI_COMM_WORLD);
    } else if (rank == size - 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
        REQUIRE(base[5] == 42);
        MPI_Win_unlock(rank, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_of(long *mine)
{
    put_and_get(mine);
    neighbours(mine);
    atomics();
    passive();
    MPI_Win_free(&window);
}

int main(int count, char **words)
{
    begin(&count, &words);
    long *mine = memory(ELEMENTS * sizeof *mine), *own = memory(ELEMENTS * sizeof *own);
    MPI_Win_allocate(ELEMENTS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    all_of(mine);
    base = own;
    MPI_Win_create(own, ELEMENTS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    all_of(mine);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Aint address, theirs;
    long value = rank;
    MPI_Win_attach(window, own, ELEMENTS * sizeof *own);
    MPI_Get_address(own, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, (rank + size - 1) % size, 1, &theirs, 1, MPI_AINT, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, theirs, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    REQUIRE(own[0] == (rank + size - 1) % size);
    MPI_Win_detach(window, own);
    MPI_Win_free(&window);
    free(mine), free(own);
    end("remote");
    return 0;
}
