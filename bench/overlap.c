/* overlap: how much of a transfer proceeds while the program computes (the question of Denis and Trahay 2016). First
 * the transfer alone takes t. Then one side, or both, computes for t between starting the transfer and waiting for
 * it. If the whole then takes t, all of the transfer was hidden (100 %); if it takes 2 t, none was. */
#include "ranks.h"

enum { CALIBRATION_STEPS = 20000000 };

struct exchange {
    unsigned char *buffer;
    int size;
    long steps; /* of computation on this rank while the transfer runs */
};

/* Work of a fixed amount, so that cycles taken by anything else on this core lengthen it. */
static uint64_t compute(long steps)
{
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static double steps_per_second(void)
{
    double best = 0;
    for (int i = 0; i < 3; i++) {
        double begin = seconds_now();
        volatile uint64_t kept = compute(CALIBRATION_STEPS);
        (void)kept;
        double rate = CALIBRATION_STEPS / (seconds_now() - begin);
        best = rate > best ? rate : best;
    }
    return best;
}

static void transfers(void *state, long repetitions)
{
    struct exchange *x = state;
    for (long i = 0; i < repetitions; i++) {
        MPI_Request request;
        if (my_rank == 0)
            MPI_Isend(x->buffer, x->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(x->buffer, x->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        volatile uint64_t kept = compute(x->steps);
        (void)kept;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        /* an empty message back: the end, and the sign that the next receive is about to be posted */
        if (my_rank == 0)
            MPI_Recv(0, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(0, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

static double percent(double alone, double both)
{
    double hidden = 100 * (2 * alone - both) / alone;
    return hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
}

static void point(int size, double seconds, double rate)
{
    static struct sampler s;
    static const char *const sides[] = {"sender", "receiver", "both"};
    struct exchange x = {pages((size_t)size), size, 0};
    unsigned char *expected = pages((size_t)size);
    random_fill(expected, (size_t)size, (uint64_t)size);
    if (my_rank == 0)
        memcpy(x.buffer, expected, (size_t)size);
    measure(transfers, &x, seconds, &s);
    double alone = my_rank == 0 ? spread_of(&s).median : 0;
    MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (my_rank == 0)
        print_time("overlap", "alone", size, "us", &s, 1e6);
    for (int side = 0; side < 3; side++) {
        bool computes = side == 2 || my_rank == side;
        x.steps = computes ? (long)(alone * rate) : 0;
        measure(transfers, &x, seconds, &s);
        if (my_rank == 0) {
            struct spread v = spread_of(&s);
            v = (struct spread){percent(alone, v.best), percent(alone, v.median), percent(alone, v.p90)};
            print_spread("overlap", sides[side], size, "%", v, s.count);
        }
    }
    if (memcmp(x.buffer, expected, (size_t)size))
        fail("overlap: wrong data at %d bytes", size);
    free(expected);
    free(x.buffer);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes", "64K,256K,1M,4M", 0.25);
    start(&argc, &argv, "overlap", MPI_THREAD_SINGLE, 2);
    double rate = steps_per_second();
    for (int i = 0; i < o.count; i++) {
        if (o.points[i] < 1 || o.points[i] > INT32_MAX)
            fail("overlap: a size is from 1 byte to 2 GiB");
        point((int)o.points[i], o.seconds, rate);
    }
    MPI_Finalize();
    return 0;
}
