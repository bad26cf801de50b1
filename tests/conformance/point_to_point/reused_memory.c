/* What is sent and received is in the buffers that a call names, MPI-5.0 §3.2, whatever memory was at their addresses before: a program may
 * give memory back to the system between two messages, behind the library's back, and have other memory at the same address. */
#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20, ROUNDS = 12 };

/* Lengths that libraries copy, and such that they move from where they lie; a piece in the midst of the memory too. */
static const struct {
    size_t offset, bytes;
} pieces[] = { { 0, BYTES }, { 4096 + 24, 600000 }, { 1 << 19, 100000 }, { 8, 3000 } };
enum { PIECES = sizeof pieces / sizeof *pieces };

/* Other memory at an address, an anonymous mapping or one of a file: what was there is unmapped. */
static char *renew(char *at, int round)
{
    int file = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (round % 3 == 2) {
        file = memfd_create("reused_memory", 0);
        CHECK(file >= 0 && ftruncate(file, BYTES) == 0, "a file");
        flags = MAP_SHARED;
    }
    void *memory = mmap(at, BYTES, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), file, 0);
    CHECK(memory != MAP_FAILED && (!at || memory == at), "memory at the same address");
    if (file >= 0)
        close(file);
    return memory;
}

static char byte_of(int rank, int round, size_t i) { return (char)(i * 7 + i / 4099 + (size_t)rank * 31 + (size_t)round * 101); }

static void fill(char *memory, int rank, int round)
{
    for (size_t i = 0; i < BYTES; i++)
        memory[i] = byte_of(rank, round, i);
}

/* A piece of the process's bytes, and zeros around it. */
static void check(const char *memory, int from, int round, int piece)
{
    size_t begin = pieces[piece].offset, end = begin + pieces[piece].bytes, i = 0;
    while (i < BYTES && memory[i] == (i >= begin && i < end ? byte_of(from, round, i) : 0))
        i++;
    CHECK(i == BYTES, "MPI-5.0 §3.2", "round %d: byte %zu of the piece from %zu to %zu is %d", round, i, begin, end, memory[i < BYTES ? i : 0]);
}

/* Each sends to the next one and receives from the one before. */
static void messages(int next, int before)
{
    char *out = renew(NULL, 0), *in = renew(NULL, 0);
    for (int round = 0; round < ROUNDS; round++) {
        int piece = round % PIECES;
        size_t offset = pieces[piece].offset;
        out = renew(out, round);
        in = renew(in, round + round / 3);
        fill(out, rank_of_world, round);
        MPI_Sendrecv(out + offset, (int)pieces[piece].bytes, MPI_BYTE, next, round, in + offset, (int)pieces[piece].bytes, MPI_BYTE, before, round,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, before, round, piece);
    }
    munmap(out, BYTES);
    munmap(in, BYTES);
}

/* Each puts into the next one's part, and gets it back, by other memory every time. */
static void accesses(int next, int before)
{
    char *part, *out = renew(NULL, 0), *in = renew(NULL, 0);
    MPI_Win window;
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
    for (int round = 0; round < ROUNDS; round++) {
        int piece = round % PIECES;
        size_t offset = pieces[piece].offset;
        int bytes = (int)pieces[piece].bytes;
        out = renew(out, round);
        in = renew(in, round + round / 3);
        fill(out, rank_of_world, round);
        memset(part, 0, BYTES);
        MPI_Win_fence(0, window);
        MPI_Put(out + offset, bytes, MPI_BYTE, next, (MPI_Aint)offset, bytes, MPI_BYTE, window);
        MPI_Win_fence(0, window);
        check(part, before, round, piece);
        MPI_Get(in + offset, bytes, MPI_BYTE, next, (MPI_Aint)offset, bytes, MPI_BYTE, window);
        MPI_Win_fence(0, window);
        check(in, rank_of_world, round, piece);
    }
    MPI_Win_free(&window);
    munmap(out, BYTES);
    munmap(in, BYTES);
}

/* A window on memory that had another one. */
static void windows(int next, int before)
{
    char *part = renew(NULL, 0), *out = malloc(BYTES);
    for (int round = 0; round < ROUNDS / 2; round++) {
        MPI_Win window;
        part = renew(part, round);
        fill(out, rank_of_world, round);
        MPI_Win_create(part, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Put(out, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, window);
        MPI_Win_fence(0, window);
        check(part, before, round, 0);
        MPI_Win_free(&window);
    }
    free(out);
    munmap(part, BYTES);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "reused_memory");
    messages(right_neighbour(), left_neighbour());
    accesses(right_neighbour(), left_neighbour());
    windows(right_neighbour(), left_neighbour());
    return check_finish();
}
