/* Lists of writes and reads, which a device may carry out together: they take effect and complete in order, and where one fails
 * those before it are done, it has its error and those behind it are flushed. §9.5, §10.8.3.3 */
#include "process.h"

#include <sys/mman.h>

enum { MOST = 50, STRIDE = 100, LONGEST = 64, BAD = 21, SHOWN = MOST * STRIDE, HOLE = 64 << 10, END = 'e' };

/* Target: a side for each turn, and its memory shown when asked for. In the middle of it is a page that is no longer there. */
static void target(int stream)
{
    struct world world;
    struct side side;
    char word;
    world_open(&world);
    for (;;) {
        hear(stream, &word, 1);
        if (word == END)
            break;
        side_open(&world, &side, &usual);
        struct card peer = exchange(stream, &side, 0);
        connect_to(&side, &usual, peer.qp_num);
        for (int i = 0; i < BUFFER; i++)
            side.buffer[i] = (char)(i * 11);
        if (!is_rxe(&world))
            REQUIRE(mprotect(side.buffer + HOLE, 4096, PROT_NONE) == 0, "mprotect");
        tell(stream, &word, 1);
        hear(stream, &word, 1);
        tell(stream, side.buffer, SHOWN);
        hear(stream, &word, 1);
        REQUIRE(mprotect(side.buffer + HOLE, 4096, PROT_READ | PROT_WRITE) == 0, "mprotect");
        side_close(&side);
    }
    world_close(&world);
}

struct turn {
    int stream;
    struct side side;
    struct card peer;
    char expected[SHOWN];
};

static void begin(struct turn *turn, struct world *world)
{
    char word = 'b';
    tell(turn->stream, &word, 1);
    side_open(world, &turn->side, &usual);
    turn->peer = exchange(turn->stream, &turn->side, 0);
    connect_to(&turn->side, &usual, turn->peer.qp_num);
    hear(turn->stream, &word, 1);
    for (int i = 0; i < SHOWN; i++)
        turn->expected[i] = (char)(i * 11);
}

static void end(struct turn *turn, const char *what)
{
    static char shown[SHOWN];
    char word = 's';
    tell(turn->stream, &word, 1);
    hear(turn->stream, shown, SHOWN);
    for (int i = 0; i < SHOWN; i++)
        REQUIRE(shown[i] == turn->expected[i], "%s: byte %d of request %d", what, i % STRIDE, i / STRIDE);
    tell(turn->stream, &word, 1);
    side_close(&turn->side);
}

/* Request `i` of a list: two pieces, some of them inline, some of no bytes; each STRIDE bytes of the peer's belong to one. */
struct list {
    struct ibv_send_wr wr[MOST];
    struct ibv_sge sge[MOST][2];
};

static uint32_t bytes_of(int i)
{
    return i % 9 == 4 ? 0 : 1 + i * 13 % LONGEST;
}

static void make(struct list *list, struct turn *turn, int count, int opcode)
{
    for (int i = 0; i < count; i++) {
        uint32_t bytes = bytes_of(i), first = bytes / 3;
        list->sge[i][0] = piece(&turn->side, i * 2 * STRIDE, first);
        list->sge[i][1] = piece(&turn->side, (i * 2 + 1) * STRIDE, bytes - first);
        list->wr[i] = request_to(list->sge[i], &turn->peer, i, opcode);
        list->wr[i].num_sge = 2;
        list->wr[i].wr.rdma.remote_addr += i * STRIDE;
        list->wr[i].next = i + 1 < count ? &list->wr[i + 1] : NULL;
        if (opcode == IBV_WR_RDMA_WRITE && i % 3 == 1)
            list->wr[i].send_flags |= IBV_SEND_INLINE;
    }
}

/* What write `i` puts there: its own bytes, unless it fails. */
static void foresee(struct turn *turn, const struct list *list, int i)
{
    char *to = turn->expected + (list->wr[i].wr.rdma.remote_addr - turn->peer.address);
    for (int part = 0; part < 2; part++) {
        memcpy(to, (void *)(uintptr_t)list->sge[i][part].addr, list->sge[i][part].length);
        to += list->sge[i][part].length;
    }
}

static void fill(struct turn *turn)
{
    for (int i = 0; i < BUFFER; i++)
        turn->side.buffer[i] = (char)(i * 7 + 3);
}

static void writes(struct turn *turn, struct world *world, int count)
{
    struct list list;
    begin(turn, world);
    fill(turn);
    make(&list, turn, count, IBV_WR_RDMA_WRITE);
    for (int i = 0; i < count; i++)
        foresee(turn, &list, i);
    REQUIRE(post_one(&turn->side, list.wr) == 0, "post");
    for (int i = 0; i < count; i++)
        expect(turn->side.send_cq, i, IBV_WC_SUCCESS);
    end(turn, "writes");
}

/* All to one place: the last one stays. With a read of it in their midst, which sees the one before it. */
static void one_place(struct turn *turn, struct world *world)
{
    enum { COUNT = 40, READ = 30, BACK = 500000 };
    struct list list;
    begin(turn, world);
    fill(turn);
    make(&list, turn, COUNT, IBV_WR_RDMA_WRITE);
    for (int i = 0; i < COUNT; i++) {
        list.wr[i].wr.rdma.remote_addr = turn->peer.address;
        list.wr[i].send_flags = i + 1 < COUNT ? 0 : IBV_SEND_SIGNALED;
        list.sge[i][0] = piece(&turn->side, i, 8);
        list.wr[i].num_sge = 1;
    }
    list.wr[READ].opcode = IBV_WR_RDMA_READ;
    list.sge[READ][0] = piece(&turn->side, BACK, 8);
    REQUIRE(post_one(&turn->side, list.wr) == 0, "post");
    expect(turn->side.send_cq, COUNT - 1, IBV_WC_SUCCESS);
    REQUIRE(memcmp(turn->side.buffer + BACK, turn->side.buffer + READ - 1, 8) == 0, "the read among the writes");
    memcpy(turn->expected, turn->side.buffer + COUNT - 1, 8);
    end(turn, "one place");
}

static void reads(struct turn *turn, struct world *world)
{
    struct list list;
    begin(turn, world);
    make(&list, turn, MOST, IBV_WR_RDMA_READ);
    REQUIRE(post_one(&turn->side, list.wr) == 0, "post");
    for (int i = 0; i < MOST; i++) {
        struct ibv_wc wc = expect(turn->side.send_cq, i, IBV_WC_SUCCESS);
        REQUIRE(wc.byte_len == bytes_of(i), "read %d: %u bytes", i, wc.byte_len);
        char *from = turn->expected + i * STRIDE;
        for (int part = 0; part < 2; part++) {
            struct ibv_sge *sge = &list.sge[i][part];
            REQUIRE(memcmp((void *)(uintptr_t)sge->addr, from, sge->length) == 0, "read %d, piece %d", i, part);
            from += sge->length;
        }
    }
    end(turn, "reads");
}

enum wrong { RKEY, RANGE, LKEY, GONE };

static void one_fails(struct turn *turn, struct world *world, enum wrong wrong, enum ibv_wc_status status)
{
    struct list list;
    begin(turn, world);
    fill(turn);
    make(&list, turn, MOST, IBV_WR_RDMA_WRITE);
    list.wr[BAD].send_flags = IBV_SEND_SIGNALED;
    if (wrong == RKEY)
        list.wr[BAD].wr.rdma.rkey += 0x100;
    if (wrong == RANGE)
        list.wr[BAD].wr.rdma.remote_addr = turn->peer.address + BUFFER - 1;
    if (wrong == LKEY)
        list.sge[BAD][1].lkey += 0x100;
    if (wrong == GONE)
        list.wr[BAD].wr.rdma.remote_addr = turn->peer.address + HOLE;
    for (int i = 0; i < BAD; i++)
        foresee(turn, &list, i);
    REQUIRE(post_one(&turn->side, list.wr) == 0, "post");
    for (int i = 0; i < MOST; i++)
        expect(turn->side.send_cq, i, i < BAD ? IBV_WC_SUCCESS : i == BAD ? status : IBV_WC_WR_FLUSH_ERR);
    end(turn, "one fails");
}

int main(void)
{
    struct world world;
    struct turn turn;
    char word = END;
    int child = part(&turn.stream);
    if (!child) {
        target(turn.stream);
        return 0;
    }
    world_open(&world);
    for (int count = 1; count <= MOST; count += count < 3 ? 1 : 15)
        writes(&turn, &world, count);
    one_place(&turn, &world);
    reads(&turn, &world);
    one_fails(&turn, &world, RKEY, IBV_WC_REM_ACCESS_ERR);
    one_fails(&turn, &world, RANGE, IBV_WC_REM_ACCESS_ERR);
    /* The kernel's device calls a wrong key of a later piece a local queue pair operation error. */
    if (!is_rxe(&world))
        one_fails(&turn, &world, LKEY, IBV_WC_LOC_PROT_ERR);
    /* An adapter holds on to pages that their process has no more. */
    if (strncmp(ibv_get_device_name(world.context->device), "softrdma", 8) == 0)
        one_fails(&turn, &world, GONE, IBV_WC_REM_OP_ERR);
    tell(turn.stream, &word, 1);
    join_child(child);
    world_close(&world);
    return ok("joined");
}
