/* Short messages between processes, inline or not, which a device may hand over with their completion: whole in the receive's
 * memory once that is polled, whatever the receive looks like; and no harm where that memory is gone by then. */
#include "process.h"

#include <sys/mman.h>

enum { LONGEST = 64, ROUNDS = 3 };

static void fill(char *buffer, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = (char)(i * 5 + seed);
}

/* A receive in two pieces, the first of `first` bytes; none of it is near the other. */
static void give(struct side *side, uint64_t id, uint32_t first)
{
    struct ibv_sge sges[2] = {piece(side, 0, first), piece(side, 4096, LONGEST)};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = sges, .num_sge = 2}, *bad;
    REQUIRE(ibv_post_recv(side->qp, &wr, &bad) == 0, "post_recv");
}

static void check(const struct side *side, uint32_t first, uint32_t bytes, int seed)
{
    char expected[LONGEST];
    uint32_t here = bytes < first ? bytes : first;
    fill(expected, bytes, seed);
    REQUIRE(memcmp(side->buffer, expected, here) == 0, "%u bytes, first %u", bytes, first);
    REQUIRE(memcmp(side->buffer + 4096, expected + here, bytes - here) == 0, "%u bytes, first %u", bytes, first);
    REQUIRE(side->buffer[here] == 0 && side->buffer[4096 + bytes - here] == 0, "more than was sent");
}

static const uint32_t firsts[ROUNDS] = {0, 8, LONGEST};

static void send_bytes(struct side *side, uint64_t id, uint32_t bytes, int seed)
{
    char inlined[LONGEST], *words = bytes % 2 ? inlined : side->buffer;
    fill(words, bytes, seed);
    struct ibv_sge sges[2] = {{(uintptr_t)words, bytes / 2, side->mr->lkey},
                              {(uintptr_t)words + bytes / 2, bytes - bytes / 2, side->mr->lkey}};
    struct ibv_send_wr wr = request(sges, side, id, IBV_WR_SEND, 0);
    wr.num_sge = 2;
    wr.send_flags |= words == inlined ? IBV_SEND_INLINE : 0;
    REQUIRE(post_one(side, &wr) == 0, "post");
    expect(side->send_cq, id, IBV_WC_SUCCESS);
}

static void receive_all(struct side *side, int stream)
{
    char word = 'r';
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t bytes = 0; bytes <= LONGEST; bytes++) {
            memset(side->buffer, 0, 8192);
            give(side, bytes, firsts[round]);
            tell(stream, &word, 1);
            struct ibv_wc wc = expect(side->receive_cq, bytes, IBV_WC_SUCCESS);
            REQUIRE(wc.byte_len == bytes, "length %u", wc.byte_len);
            check(side, firsts[round], bytes, round);
        }
    /* Two wait while the queue moves to other memory. */
    memset(side->buffer, 0, 8192);
    REQUIRE(receive(side, 1, 0, 16) == 0 && receive(side, 2, 4096, 16) == 0, "post_recv");
    tell(stream, &word, 1);
    hear(stream, &word, 1);
    REQUIRE(ibv_resize_cq(side->receive_cq, 300) == 0 || is_rxe(side->world), "resize_cq");
    expect(side->receive_cq, 1, IBV_WC_SUCCESS);
    expect(side->receive_cq, 2, IBV_WC_SUCCESS);
    char expected[16];
    fill(expected, 16, 1);
    REQUIRE(memcmp(side->buffer, expected, 16) == 0, "the first");
    fill(expected, 16, 2);
    REQUIRE(memcmp(side->buffer + 4096, expected, 16) == 0, "the second");
    /* The memory goes before the completion is polled. */
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr = ibv_reg_mr(side->world->pd, page, 4096, usual.access);
    REQUIRE(page != MAP_FAILED && mr, "reg_mr");
    struct ibv_sge sge = {(uintptr_t)page, 16, mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1}, *bad;
    REQUIRE(ibv_post_recv(side->qp, &wr, &bad) == 0, "post_recv");
    tell(stream, &word, 1);
    hear(stream, &word, 1);
    REQUIRE(ibv_dereg_mr(mr) == 0 && munmap(page, 4096) == 0, "free");
    expect(side->receive_cq, 3, IBV_WC_SUCCESS);
}

static void send_all(struct side *side, int stream)
{
    char word;
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t bytes = 0; bytes <= LONGEST; bytes++) {
            hear(stream, &word, 1);
            send_bytes(side, bytes, bytes, round);
        }
    hear(stream, &word, 1);
    send_bytes(side, 1, 16, 1);
    send_bytes(side, 2, 16, 2);
    tell(stream, &word, 1);
    hear(stream, &word, 1);
    send_bytes(side, 3, 16, 3);
    tell(stream, &word, 1);
}

int main(void)
{
    struct world world;
    struct side side;
    int stream, child = part(&stream);
    world_open(&world);
    side_open(&world, &side, &usual);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    char word = 'c';
    tell(stream, &word, 1);
    hear(stream, &word, 1);
    if (!child) {
        receive_all(&side, stream);
        tell(stream, &word, 1);
    } else {
        send_all(&side, stream);
        hear(stream, &word, 1);
    }
    side_close(&side);
    world_close(&world);
    if (!child)
        return 0;
    join_child(child);
    return ok("small_messages");
}
