/* probe pairs|together|asleep|memory|nothing: what measure.py asks every library: lines "NAME BYTES VALUE". pairs is for two
 * ranks on a host each, which bind themselves to cores of their own by the number in their host's name; the others are for any. */
#include "resident.h"
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 15, LARGEST = 4 << 20, WINDOW = 64, STREAM = 8 };

static int rank, size;
static char *out, *in;
static long *base;
static MPI_Win window;
static MPI_Request requests[WINDOW];

static void bind_by_host(void)
{
    char name[64] = "";
    cpu_set_t cores;
    gethostname(name, sizeof name - 1);
    CPU_ZERO(&cores);
    CPU_SET(atoi(name + strcspn(name, "0123456789")) % (int)sysconf(_SC_NPROCESSORS_ONLN), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

enum batches { FASTEST, MEAN, MEDIAN };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of batches of about 10 ms the fastest, for ranks that have cores of their own; where they share cores, a batch is fast by luck, and
 * the mean or the median counts; rank 0 says how many steps a batch is. */
static double seconds_of(void (*step)(int bytes), int bytes, enum batches which)
{
    double seconds[BATCHES], all = 0;
    int times = 1;
    for (int warm = 0; warm < 2; warm++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        step(bytes);
        times = (int)(0.01 / (MPI_Wtime() - begin + 1e-9));
    }
    times = times < 1 ? 1 : times > 200 ? 200 : times;
    MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BATCHES; i++) {
        double begin = MPI_Wtime();
        for (int j = 0; j < times; j++)
            step(bytes);
        seconds[i] = (MPI_Wtime() - begin) / times;
        all += seconds[i];
    }
    qsort(seconds, BATCHES, sizeof *seconds, by_value);
    return which == FASTEST ? seconds[0] : which == MEDIAN ? seconds[BATCHES / 2] : all / BATCHES;
}

static void say(const char *name, int bytes, double value)
{
    if (rank == 0)
        printf("%s %d %.6g\n", name, bytes, value);
}

static void round_trip(int bytes)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

/* COUNT messages one way, all at once, and an answer. */
static void one_way(int count, int bytes)
{
    for (int i = 0; i < count; i++)
        if (rank == 0)
            MPI_Isend(out, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(in, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(in, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(out, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}

static void stream(int bytes) { one_way(STREAM, bytes); }
static void messages(int bytes) { one_way(WINDOW, bytes); }

enum access { PUT, GET, FETCH_AND_OP };

static void access_once(enum access access, int place)
{
    if (access == PUT)
        MPI_Put(out + place, 8, MPI_BYTE, 1, place, 8, MPI_BYTE, window);
    else if (access == GET)
        MPI_Get(in + place, 8, MPI_BYTE, 1, place, 8, MPI_BYTE, window);
    else
        MPI_Fetch_and_op(out + place, in + place, MPI_LONG, 1, place, MPI_SUM, window);
}

/* The target waits in MPI meanwhile; rank 0 times batches of accesses, each completed by a flush. */
static double access_seconds(enum access access, int count)
{
    enum { TIMES = 20 };
    double least = 1e9;
    for (int i = 0; rank == 0 && i < BATCHES; i++) {
        double begin = MPI_Wtime();
        for (int j = 0; j < TIMES; j++) {
            for (int k = 0; k < count; k++)
                access_once(access, 8 * k);
            MPI_Win_flush(1, window);
        }
        double each = (MPI_Wtime() - begin) / TIMES;
        least = each < least ? each : least;
    }
    if (rank == 0)
        MPI_Send(out, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    else
        MPI_Recv(in, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return least;
}

static void pairs(void)
{
    const int sizes[] = {4, 1 << 10, 64 << 10, 1 << 20, 4 << 20};
    for (int i = 0; i < 5; i++)
        say("half", sizes[i], seconds_of(round_trip, sizes[i], FASTEST) * 5e5);
    say("stream", 1 << 20, STREAM * 1.048576 / seconds_of(stream, 1 << 20, FASTEST));
    say("messages", 8, WINDOW / 1e3 / seconds_of(messages, 8, FASTEST));
    MPI_Win_allocate(WINDOW * sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_lock_all(0, window);
    access_seconds(PUT, 1);
    say("put", 8, access_seconds(PUT, 1) * 1e6);
    say("get", 8, access_seconds(GET, 1) * 1e6);
    say("fetch", 8, access_seconds(FETCH_AND_OP, 1) * 1e6);
    say("puts", 8, WINDOW / 1e3 / access_seconds(PUT, WINDOW));
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void barrier(int bytes)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int bytes) { MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

/* From each in turn, so that nobody runs ahead. */
static void bcast(int bytes)
{
    static int root;
    MPI_Bcast(out, bytes, MPI_BYTE, root++ % size, MPI_COMM_WORLD);
}

static void together(void)
{
    say("barrier", 0, seconds_of(barrier, 0, MEAN) * 1e6);
    say("allreduce", 8, seconds_of(allreduce, 8, MEAN) * 1e6);
    say("allreduce", 64 << 10, seconds_of(allreduce, 64 << 10, MEAN) * 1e6);
    say("bcast", 1 << 20, seconds_of(bcast, 1 << 20, MEAN) * 1e6);
}

/* Between the first rank of each of two hosts, while the others wait in MPI. */
static void round_trip_of_firsts(int bytes)
{
    int other = size / 2 - rank;
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (other == 0) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void asleep(void)
{
    say("asleep", 4, seconds_of(round_trip_of_firsts, 4, MEDIAN) * 5e5);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The most that a rank has after messages of two sizes to and from every other. */
static void memory(void)
{
    const int sizes[] = {8, 64 << 10};
    for (int i = 0; i < 2; i++)
        for (int step = 1; step < size; step++)
            MPI_Sendrecv(out, sizes[i], MPI_BYTE, (rank + step) % size, 5, in, sizes[i], MPI_BYTE, (rank + size - step) % size, 5,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double mine = resident_mib(), most = 0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    say("memory", size, most);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "nothing";
    if (strcmp(what, "pairs") == 0)
        bind_by_host();
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc(1, LARGEST), in = calloc(1, LARGEST);
    if (!out || !in || (strcmp(what, "pairs") == 0 && size != 2))
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(what, "pairs") == 0)
        pairs();
    else if (strcmp(what, "together") == 0)
        together();
    else if (strcmp(what, "asleep") == 0)
        asleep();
    else if (strcmp(what, "memory") == 0)
        memory();
    if (rank == 0)
        puts("ok probe");
    MPI_Finalize();
    free(out), free(in);
    return 0;
}
