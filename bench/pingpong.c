/* pingpong: half round trip and bandwidth of one message between two ranks. The received buffer is sent back, as a
 * program that works on its data does, so that the source is dirty in the other core's cache. */
#include "ranks.h"

struct trip {
    unsigned char *buffer;
    int size;
    unsigned char stamp; /* differs on every leg: a leg that ended before its data came is seen */
};

static void mark(struct trip *t, unsigned char stamp)
{
    t->buffer[0] = t->buffer[t->size - 1] = stamp;
}

static void check(struct trip *t, unsigned char stamp)
{
    if (t->buffer[0] != stamp || t->buffer[t->size - 1] != stamp)
        fail("pingpong: wrong data at %d bytes", t->size);
}

static void go_and_return(void *state, long repetitions)
{
    struct trip *t = state;
    for (long i = 0; i < repetitions; i++, t->stamp += 2)
        if (my_rank == 0) {
            mark(t, t->stamp);
            MPI_Send(t->buffer, t->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(t->buffer, t->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(t, (unsigned char)(t->stamp + 1));
        } else {
            MPI_Recv(t->buffer, t->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(t, t->stamp);
            mark(t, (unsigned char)(t->stamp + 1));
            MPI_Send(t->buffer, t->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
}

static void point(struct options *o, int size)
{
    static struct sampler s;
    struct trip t = {pages((size_t)size), size, 0};
    unsigned char *expected = pages((size_t)size);
    random_fill(expected, (size_t)size, (uint64_t)size);
    if (my_rank == 0)
        memcpy(t.buffer, expected, (size_t)size);
    measure(go_and_return, &t, o->seconds, &s);
    /* all but the two stamped bytes stayed as rank 0 first sent them */
    if (size > 2 && memcmp(t.buffer + 1, expected + 1, (size_t)size - 2))
        fail("pingpong: wrong data at %d bytes", size);
    if (my_rank == 0) {
        print_time("pingpong", "latency", size, "us", &s, 1e6 / 2);
        print_rate("pingpong", "bandwidth", size, "MB/s", &s, 2e-6 * size);
    }
    free(expected);
    free(t.buffer);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes", "8,64,256,1K,4K,16K,64K,256K,1M,4M", 0.25);
    start(&argc, &argv, "pingpong", MPI_THREAD_SINGLE, 2);
    for (int i = 0; i < o.count; i++) {
        if (o.points[i] < 1 || o.points[i] > INT32_MAX)
            fail("pingpong: a size is from 1 byte to 2 GiB");
        point(&o, (int)o.points[i]);
    }
    MPI_Finalize();
    return 0;
}
