/* probe pairs|together|nothing: what measure.py asks every library: lines "NAME BYTES VALUE". pairs is for two
 * ranks on a host each, which bind themselves to cores of their own by the number in their host's name; together is for any. */
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

/* The fastest of batches of about 10 ms, for ranks that have cores of their own; where they share cores, a batch is fast by luck, and the mean counts; rank 0 says how many steps that is. */
static double seconds_of(void (*step)(int bytes), int bytes)
{
    double least = 1e9, all = 0;
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
        double each = (MPI_Wtime() - begin) / times;
        least = each < least ? each : least;
        all += each;
    }
    return size == 2 ? least : all / BATCHES;
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
        say("half", sizes[i], seconds_of(round_trip, sizes[i]) * 5e5);
    say("stream", 1 << 20, STREAM * 1.048576 / seconds_of(stream, 1 << 20));
    say("messages", 8, WINDOW / 1e3 / seconds_of(messages, 8));
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
    say("barrier", 0, seconds_of(barrier, 0) * 1e6);
    say("allreduce", 8, seconds_of(allreduce, 8) * 1e6);
    say("allreduce", 64 << 10, seconds_of(allreduce, 64 << 10) * 1e6);
    say("bcast", 1 << 20, seconds_of(bcast, 1 << 20) * 1e6);
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
    if (rank == 0)
        puts("ok probe");
    MPI_Finalize();
    free(out), free(in);
    return 0;
}
