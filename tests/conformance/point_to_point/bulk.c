/* Many large messages under way at once between every two ranks, of unequal sizes, received early and late:
 * each arrives whole, and a completed send leaves its buffer free for reuse (MPI-5.0 §3.7.3). */
#include "check.h"

enum { ROUNDS = 12, EACH = 4 };

static size_t bytes_of(int from, int to, int k, int round)
{
    static const size_t sizes[] = { 70001, 1200000, 300000, 524289, 9000, 2500000, 1048576, 40 };
    return sizes[(unsigned)(from * 3 + to * 5 + k + round) % 8];
}

static unsigned seed_of(int from, int to, int k, int round)
{
    return (unsigned)(((from * 16 + to) * EACH + k) * ROUNDS + round);
}

static void post_receives(unsigned char **in, MPI_Request *requests, int round)
{
    for (int i = 0; i < size_of_world * EACH; i++) {
        size_t bytes = bytes_of(i / EACH, rank_of_world, i % EACH, round);
        in[i] = need(bytes);
        memset(in[i], 0x77, bytes);
        MPI_Irecv(in[i], (int)bytes, MPI_BYTE, i / EACH, i % EACH, MPI_COMM_WORLD, &requests[i]);
    }
}

static void start_sends(unsigned char **out, MPI_Request *requests, int round)
{
    for (int i = 0; i < size_of_world * EACH; i++) {
        size_t bytes = bytes_of(rank_of_world, i / EACH, i % EACH, round);
        out[i] = need(bytes);
        fill_pattern(out[i], bytes, seed_of(rank_of_world, i / EACH, i % EACH, round));
        MPI_Isend(out[i], (int)bytes, MPI_BYTE, i / EACH, i % EACH, MPI_COMM_WORLD, &requests[i]);
    }
}

/* Each buffer is overwritten and freed as soon as its own send is complete, while others are under way. */
static void reuse_buffers(unsigned char **out, MPI_Request *requests, int round)
{
    for (int left = size_of_world * EACH; left > 0; left--) {
        int i = -1;
        MPI_Waitany(size_of_world * EACH, requests, &i, MPI_STATUS_IGNORE);
        CHECK(i >= 0 && i < size_of_world * EACH, "MPI-5.0 §3.7.5");
        memset(out[i], 0xEE, bytes_of(rank_of_world, i / EACH, i % EACH, round));
        free(out[i]);
    }
}

/* Where the message is wrong first, and what stands there: 0x77 was never written, 0xee was read too late. */
static void explain(const unsigned char *in, size_t bytes, unsigned seed)
{
    unsigned char *expected = need(bytes);
    size_t first = 0, wrong = 0;
    fill_pattern(expected, bytes, seed);
    while (first < bytes && in[first] == expected[first])
        first++;
    for (size_t i = first; i < bytes; i++)
        wrong += in[i] != expected[i];
    fprintf(stderr, "rank %d: %zu of %zu bytes are wrong, the first at %zu: 0x%02x 0x%02x\n", rank_of_world,
            wrong, bytes, first, in[first], in[first + 1]);
    free(expected);
}

static void check_arrivals(unsigned char **in, MPI_Request *requests, int round)
{
    for (int left = size_of_world * EACH; left > 0; left--) {
        int i = -1;
        MPI_Waitany(size_of_world * EACH, requests, &i, MPI_STATUS_IGNORE);
        int from = i / EACH, k = i % EACH;
        size_t bytes = bytes_of(from, rank_of_world, k, round);
        unsigned seed = seed_of(from, rank_of_world, k, round);
        if (!has_pattern(in[i], bytes, seed))
            explain(in[i], bytes, seed);
        CHECK(has_pattern(in[i], bytes, seed), "MPI-5.0 §3.7.3", "round %d: message %d of %d, %zu bytes",
              round, k, from, bytes);
        free(in[i]);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "bulk");
    int messages = size_of_world * EACH;
    unsigned char **out = need((size_t)messages * sizeof *out), **in = need((size_t)messages * sizeof *in);
    MPI_Request *sends = need((size_t)messages * sizeof *sends);
    MPI_Request *receives = need((size_t)messages * sizeof *receives);
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 2)
            start_sends(out, sends, round);
        post_receives(in, receives, round);
        if (round % 2 == 0)
            start_sends(out, sends, round);
        if (round % 3 == rank_of_world % 3) {
            check_arrivals(in, receives, round);
            reuse_buffers(out, sends, round);
        } else {
            reuse_buffers(out, sends, round);
            check_arrivals(in, receives, round);
        }
    }
    free(out);
    free(in);
    free(sends);
    free(receives);
    return check_finish();
}
