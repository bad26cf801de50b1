/* exchange: two ranks send to each other at the same time, as neighbours in a halo exchange do. Both cores are busy with
 * both directions, so nobody helps anybody. What was received is sent in the next exchange. */
#include "ranks.h"

struct swap {
    unsigned char *out, *in;
    int size;
    unsigned char stamp; /* differs in every exchange: one that ended before its data came is seen */
};

static void exchange(void *state, long repetitions)
{
    struct swap *s = state;
    int peer = 1 - my_rank;
    for (long i = 0; i < repetitions; i++, s->stamp++) {
        s->out[0] = s->out[s->size - 1] = s->stamp;
        MPI_Sendrecv(s->out, s->size, MPI_BYTE, peer, 1, s->in, s->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (s->in[0] != s->stamp || s->in[s->size - 1] != s->stamp)
            fail("exchange: wrong data at %d bytes", s->size);
        unsigned char *received = s->in;
        s->in = s->out;
        s->out = received;
    }
}

static void point(struct options *o, int size)
{
    static struct sampler samples;
    struct swap s = {pages((size_t)size), pages((size_t)size), size, 0};
    unsigned char *expected = pages((size_t)size);
    random_fill(expected, (size_t)size, (uint64_t)size);
    memcpy(s.out, expected, (size_t)size);
    measure(exchange, &s, o->seconds, &samples);
    /* all but the two stamped bytes are still as both ranks first sent them */
    if (size > 2 && memcmp(s.out + 1, expected + 1, (size_t)size - 2))
        fail("exchange: wrong data at %d bytes", size);
    if (my_rank == 0) {
        print_time("exchange", "time", size, "us", &samples, 1e6);
        print_rate("exchange", "bandwidth", size, "MB/s", &samples, 2e-6 * size);
    }
    free(expected);
    free(s.in);
    free(s.out);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes", "8,64,256,1K,4K,16K,64K,256K,1M,4M", 0.25);
    start(&argc, &argv, "exchange", MPI_THREAD_SINGLE, 2);
    for (int i = 0; i < o.count; i++) {
        if (o.points[i] < 1 || o.points[i] > INT32_MAX)
            fail("exchange: a size is from 1 byte to 2 GiB");
        point(&o, (int)o.points[i]);
    }
    MPI_Finalize();
    return 0;
}
