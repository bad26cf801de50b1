/* A long stream of all operations to another process, sizes and kinds chosen by a seed: everything arrives once, in order,
 * byte for byte, however the wire behaves. Argument: how many messages. */
#include "process.h"

enum { SLOTS = 16, SLOT = 32768, WORD = SLOTS * SLOT };

struct message {
    int kind;
    uint32_t bytes;
};

/* The same sequence on both sides. */
static struct message next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    unsigned bits = *seed >> 8;
    unsigned shift = bits >> 2 & 15;
    return (struct message){.kind = bits & 3, .bytes = 1 + ((bits >> 6) & ((1u << shift) - 1)) % SLOT};
}

static void fill(char *at, uint32_t bytes, int number)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (char)(number * 31 + i * 7 + (i >> 8));
}

static void check(const char *at, uint32_t bytes, int number, const char *what)
{
    for (uint32_t i = 0; i < bytes; i++)
        REQUIRE(at[i] == (char)(number * 31 + i * 7 + (i >> 8)), "message %d, %s, byte %u of %u", number, what, i, bytes);
}

enum { SEND, WRITE, READ, ADD };

/* Sends and writes with immediate arrive here, in the order of the sequence; reads and additions leave no trace but in
 * memory. */
static void sink(int stream, int count)
{
    struct world world;
    struct side side;
    unsigned seed = 1;
    uint64_t added;
    world_open(&world);
    side_open(&world, &side, &usual);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    for (int slot = 0; slot < SLOTS; slot++)
        REQUIRE(receive(&side, slot, slot * SLOT, SLOT) == 0, "receive");
    tell(stream, "r", 1);
    for (int number = 0, slot = 0, writes = 0; number < count; number++) {
        struct message message = next(&seed);
        if (message.kind > WRITE)
            continue;
        struct ibv_wc wc = expect(side.receive_cq, slot, IBV_WC_SUCCESS);
        REQUIRE(wc.byte_len == message.bytes, "message %d: %u bytes", number, wc.byte_len);
        if (message.kind == SEND) {
            check(side.buffer + slot * SLOT, message.bytes, number, "send");
        } else {
            REQUIRE((wc.wc_flags & IBV_WC_WITH_IMM) && (int)wc.imm_data == number, "immediate of %d", number);
            check(side.buffer + BUFFER / 2 + writes++ % 8 * SLOT, message.bytes, number, "write");
        }
        REQUIRE(receive(&side, slot, slot * SLOT, SLOT) == 0, "receive");
        slot = (slot + 1) % SLOTS;
        tell(stream, "c", 1);
    }
    hear(stream, &added, sizeof added);
    REQUIRE(*(uint64_t *)(side.buffer + BUFFER - 64) == added, "additions");
    side_close(&side);
    world_close(&world);
}

int main(int argc, char **argv)
{
    struct world world;
    struct side side;
    unsigned seed = 1;
    int stream, count = argc > 1 ? atoi(argv[1]) : 2000, child = part(&stream);
    char word;
    if (!child) {
        sink(stream, count);
        return 0;
    }
    world_open(&world);
    side_open(&world, &side, &usual);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    hear(stream, &word, 1);
    uint64_t added = 0;
    int unconsumed = 0, writes = 0;
    for (int number = 0; number < count; number++) {
        struct message message = next(&seed);
        struct ibv_sge sge = piece(&side, 0, message.bytes);
        static const int opcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
                                      IBV_WR_ATOMIC_FETCH_AND_ADD};
        struct ibv_send_wr wr = request_to(&sge, &peer, number, opcodes[message.kind]);
        fill(side.buffer, message.bytes, number);
        wr.imm_data = number;
        wr.wr.rdma.remote_addr += BUFFER / 2 + writes % 8 * SLOT;
        writes += message.kind == WRITE;
        if (message.kind == ADD) {
            sge.length = 8;
            wr.wr.atomic.remote_addr = peer.address + BUFFER - 64;
            wr.wr.atomic.rkey = peer.rkey;
            wr.wr.atomic.compare_add = 1;
        }
        REQUIRE(post_one(&side, &wr) == 0, "post");
        expect(side.send_cq, number, IBV_WC_SUCCESS);
        if (message.kind == ADD)
            REQUIRE(*(uint64_t *)side.buffer == added++, "message %d: additions", number);
        /* What was written last at that place is read back. */
        if (message.kind == WRITE && message.bytes > 1) {
            struct ibv_sge back = piece(&side, BUFFER / 2, message.bytes);
            struct ibv_send_wr read = request_to(&back, &peer, number, IBV_WR_RDMA_READ);
            read.wr.rdma.remote_addr = wr.wr.rdma.remote_addr;
            REQUIRE(post_one(&side, &read) == 0, "post");
            expect(side.send_cq, number, IBV_WC_SUCCESS);
            check(side.buffer + BUFFER / 2, message.bytes, number, "read");
        }
        /* At most 5 are on the way: the sink has 8 places for what is written. */
        if (message.kind <= WRITE && ++unconsumed > 4) {
            hear(stream, &word, 1);
            unconsumed--;
        }
    }
    for (; unconsumed; unconsumed--)
        hear(stream, &word, 1);
    tell(stream, &added, sizeof added);
    join_child(child);
    side_close(&side);
    world_close(&world);
    return ok("stream");
}
