/* What an XRC request can do and how it can fail: one-sided operations by the shared receive queue's protection domain, long
 * messages, limits, a receiver that is not ready, queues that the target's domain does not have; and lists of writes, of which those before
 * the one that fails are done. */
#include <arpa/inet.h>

#include "process.h"

enum { SHORT = 64, LONG = 300000, RING = 8, LISTED = 12, BAD = 7 };

enum attempt {
    GOOD,
    NOT_READY,
    UNKNOWN_QUEUE,
    OTHER_DOMAIN,
    UNKNOWN_WRITE,
    TOO_LONG,
    WRONG_KEY,
    LISTED_QUEUE,
    LISTED_KEY,
    ATTEMPTS
};

/* What the sender's completion says, and the event at the target. */
static const struct {
    enum ibv_wc_status status;
    enum ibv_event_type event;
} outcomes[ATTEMPTS] = {
    [NOT_READY] = {IBV_WC_RNR_RETRY_EXC_ERR, IBV_EVENT_CLIENT_REREGISTER},
    [UNKNOWN_QUEUE] = {IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR},
    [OTHER_DOMAIN] = {IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR},
    [UNKNOWN_WRITE] = {IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR},
    [TOO_LONG] = {IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_LAST_WQE_REACHED},
    [WRONG_KEY] = {IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR},
    [LISTED_QUEUE] = {IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR},
    [LISTED_KEY] = {IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR},
};

/* Of these attempts the request that fails stands in a list. */
static int is_listed(enum attempt attempt)
{
    return attempt == LISTED_QUEUE || attempt == LISTED_KEY;
}

static struct ibv_xrcd *domain(struct world *world)
{
    struct ibv_xrcd_init_attr init = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    struct ibv_xrcd *xrcd = ibv_open_xrcd(world->context, &init);
    if (!xrcd && errno == EOPNOTSUPP)
        unsupported("XRC");
    REQUIRE(xrcd, "open_xrcd");
    return xrcd;
}

static struct ibv_srq *queue(struct side *side, struct ibv_xrcd *xrcd)
{
    struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = RING, .max_sge = 1},
                                        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
                                                     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = side->world->pd,
                                        .xrcd = xrcd,
                                        .cq = side->receive_cq};
    struct ibv_srq *srq = ibv_create_srq_ex(side->world->context, &init);
    REQUIRE(srq, "create_srq_ex");
    return srq;
}

static uint32_t number_of(struct ibv_srq *srq)
{
    uint32_t number;
    REQUIRE(ibv_get_srq_num(srq, &number) == 0, "get_srq_num");
    return number;
}

static void give(struct ibv_srq *srq, struct side *side, uint64_t id, size_t offset, uint32_t bytes)
{
    struct ibv_sge sge = piece(side, offset, bytes);
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0, "post_srq_recv");
}

static void memory(struct world *world, struct side *side)
{
    memset(side, 0, sizeof *side);
    side->world = world;
    side->buffer = aligned_alloc(4096, BUFFER);
    memset(side->buffer, 0, BUFFER);
    side->mr = ibv_reg_mr(world->pd, side->buffer, BUFFER, usual.access);
    side->send_cq = ibv_create_cq(world->context, 64, NULL, NULL, 0);
    side->receive_cq = ibv_create_cq(world->context, 64, NULL, NULL, 0);
    REQUIRE(side->mr && side->send_cq && side->receive_cq, "memory");
}

static void no_memory(struct side *side)
{
    REQUIRE(ibv_destroy_cq(side->send_cq) == 0 && ibv_destroy_cq(side->receive_cq) == 0, "destroy_cq");
    REQUIRE(ibv_dereg_mr(side->mr) == 0, "dereg_mr");
    free(side->buffer);
}

static void fill(char *buffer, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = (char)(i * 7 + i / 251 + seed);
}

static int is_filled(const char *buffer, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (buffer[i] != (char)(i * 7 + i / 251 + seed))
            return 0;
    return 1;
}

static void wait_for(int stream)
{
    char word;
    hear(stream, &word, 1);
}

/* The receiving process of all that goes well. */
static void receive_all(struct world *world, struct side *side, struct ibv_srq *srq, int stream)
{
    give(srq, side, 1, 0, LONG);
    give(srq, side, 2, LONG, SHORT);
    give(srq, side, 3, LONG, SHORT);
    struct ibv_srq_attr limit = {.srq_limit = 2};
    REQUIRE(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0, "limit");
    tell(stream, "r", 1);
    struct ibv_wc wc = expect(side->receive_cq, 1, IBV_WC_SUCCESS);
    REQUIRE(wc.byte_len == LONG && is_filled(side->buffer, LONG, 1), "a long message");
    REQUIRE(wc.opcode == IBV_WC_RECV && wc.wc_flags == IBV_WC_WITH_IMM && ntohl(wc.imm_data) == 77, "immediate");
    wc = expect(side->receive_cq, 2, IBV_WC_SUCCESS);
    REQUIRE(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == LONG, "a write with immediate");
    REQUIRE(is_filled(side->buffer + LONG, LONG, 2), "what was written");
    REQUIRE(wc.qp_num == side->qp->qp_num, "qp_num");
    struct ibv_async_event event = await_event(world->context, IBV_EVENT_SRQ_LIMIT_REACHED);
    REQUIRE(event.element.srq == srq, "another queue's limit");
    fill(side->buffer, LONG, 3);
    tell(stream, "w", 1);
    wait_for(stream);
    REQUIRE(*(uint64_t *)(side->buffer + 2 * LONG) == 42, "atomics");
    expect_nothing(side->receive_cq, 0);
    /* The request that is left: the receiver gives it to nobody. */
    tell(stream, "e", 1);
}

static void receiver(int stream)
{
    struct world world;
    struct side side;
    struct options options = usual;
    options.type = IBV_QPT_XRC_RECV;
    world_open(&world);
    memory(&world, &side);
    struct ibv_xrcd *xrcd = domain(&world), *other = domain(&world);
    struct ibv_srq *foreign = queue(&side, other);
    give(foreign, &side, 50, 0, LONG);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct ibv_srq *srq = queue(&side, xrcd);
        struct ibv_qp_init_attr_ex init = {
            .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};
        side.qp = ibv_create_qp_ex(world.context, &init);
        REQUIRE(side.qp, "create_qp_ex");
        uint32_t number = number_of(attempt == OTHER_DOMAIN ? foreign : srq);
        /* Of a number that no queue has: the slot's last. */
        uint32_t named = attempt == UNKNOWN_QUEUE || attempt == UNKNOWN_WRITE ? number | 0xffff : number;
        struct card peer = exchange(stream, &side, named);
        connect_to(&side, &options, peer.qp_num);
        if (attempt == GOOD) {
            receive_all(&world, &side, srq, stream);
        } else {
            if (attempt != NOT_READY)
                give(srq, &side, 9, 0, SHORT);
            memset(side.buffer, 0, LISTED * SHORT);
            tell(stream, "r", 1);
            wait_for(stream);
        }
        if (is_listed(attempt)) {
            REQUIRE(is_filled(side.buffer, BAD * SHORT, attempt), "attempt %d: the writes before the one that fails", attempt);
            for (size_t i = BAD * SHORT; i < LISTED * SHORT; i++)
                REQUIRE(!side.buffer[i], "attempt %d: byte %zu of a write that failed", attempt, i);
        }
        if (attempt == TOO_LONG)
            expect(side.receive_cq, 9, IBV_WC_LOC_LEN_ERR);
        if (attempt > NOT_READY) {
            struct ibv_async_event event = await_event(world.context, outcomes[attempt].event);
            REQUIRE(event.element.qp == side.qp, "attempt %d: another queue pair's event", attempt);
            await_state(side.qp, IBV_QPS_ERR);
        } else {
            REQUIRE(state_of(side.qp) == IBV_QPS_RTS, "attempt %d", attempt);
        }
        expect_nothing(side.receive_cq, 0);
        REQUIRE(ibv_destroy_qp(side.qp) == 0 && ibv_destroy_srq(srq) == 0, "destroy");
    }
    REQUIRE(ibv_destroy_srq(foreign) == 0 && ibv_close_xrcd(xrcd) == 0 && ibv_close_xrcd(other) == 0, "close");
    no_memory(&side);
    world_close(&world);
}

static void post_and_expect(struct side *side, struct ibv_send_wr *wr, uint32_t srq, enum ibv_wc_status status)
{
    wr->qp_type.xrc.remote_srqn = srq;
    REQUIRE(post_one(side, wr) == 0, "post");
    expect(side->send_cq, wr->wr_id, status);
}

/* Writes to one process in a row, one by one behind each other; the one that is bad has another key or names another queue. */
static void post_list(struct side *side, const struct card *peer, enum attempt attempt)
{
    struct ibv_sge sge[LISTED];
    struct ibv_send_wr wr[LISTED];
    fill(side->buffer, LISTED * SHORT, attempt);
    for (int i = 0; i < LISTED; i++) {
        sge[i] = piece(side, i * SHORT, SHORT);
        wr[i] = request_to(&sge[i], peer, i, IBV_WR_RDMA_WRITE);
        wr[i].wr.rdma.remote_addr += i * SHORT;
        wr[i].qp_type.xrc.remote_srqn = peer->srq_num;
        wr[i].next = i + 1 < LISTED ? &wr[i + 1] : NULL;
    }
    if (attempt == LISTED_QUEUE)
        wr[BAD].qp_type.xrc.remote_srqn |= 0xffff;
    if (attempt == LISTED_KEY)
        wr[BAD].wr.rdma.rkey += 1 << 12;
    REQUIRE(post_one(side, wr) == 0, "post");
    for (int i = 0; i < LISTED; i++) {
        int is_good = !is_listed(attempt) || i < BAD;
        expect(side->send_cq, i, is_good ? IBV_WC_SUCCESS : i == BAD ? outcomes[attempt].status : IBV_WC_WR_FLUSH_ERR);
    }
}

static void send_all(struct side *side, const struct card *peer, int stream)
{
    struct ibv_sge sge = piece(side, 0, LONG);
    struct ibv_send_wr wr = request_to(&sge, peer, 1, IBV_WR_SEND_WITH_IMM);
    fill(side->buffer, LONG, 1);
    wr.imm_data = htonl(77);
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    fill(side->buffer, LONG, 2);
    wr = request_to(&sge, peer, 2, IBV_WR_RDMA_WRITE_WITH_IMM);
    wr.wr.rdma.remote_addr += LONG;
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    wait_for(stream);
    wr = request_to(&sge, peer, 3, IBV_WR_RDMA_READ);
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    REQUIRE(is_filled(side->buffer, LONG, 3), "what was read");

    post_list(side, peer, GOOD);
    sge = piece(side, 0, LISTED * SHORT);
    wr = request_to(&sge, peer, 6, IBV_WR_RDMA_READ);
    memset(side->buffer, 0, LISTED * SHORT);
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    REQUIRE(is_filled(side->buffer, LISTED * SHORT, GOOD), "what a list has written");

    uint64_t word = 5;
    struct ibv_sge result = piece(side, 8, 8);
    memcpy(side->buffer, &word, sizeof word);
    struct ibv_sge first = piece(side, 0, 8);
    wr = request_to(&first, peer, 4, IBV_WR_RDMA_WRITE);
    wr.wr.rdma.remote_addr += 2 * LONG;
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    wr = request_to(&result, peer, 5, IBV_WR_ATOMIC_FETCH_AND_ADD);
    wr.wr.atomic.remote_addr = peer->address + 2 * LONG;
    wr.wr.atomic.rkey = peer->rkey;
    wr.wr.atomic.compare_add = 6;
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    REQUIRE(*(uint64_t *)(side->buffer + 8) == 5, "fetch and add");
    wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    wr.wr.atomic.compare_add = 11;
    wr.wr.atomic.swap = 42;
    post_and_expect(side, &wr, peer->srq_num, IBV_WC_SUCCESS);
    REQUIRE(*(uint64_t *)(side->buffer + 8) == 11, "compare and swap");
    tell(stream, "d", 1);
    wait_for(stream);
}

int main(void)
{
    int stream, child = part(&stream);
    if (!child) {
        receiver(stream);
        return 0;
    }
    struct world world;
    struct side side;
    world_open(&world);
    memory(&world, &side);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct options options = usual;
        options.type = IBV_QPT_XRC_SEND;
        options.rnr_retry = attempt == NOT_READY ? 1 : 7;
        struct ibv_qp_init_attr_ex init = {.send_cq = side.send_cq,
                                           .cap = {.max_send_wr = 16, .max_send_sge = 1},
                                           .qp_type = IBV_QPT_XRC_SEND,
                                           .comp_mask = IBV_QP_INIT_ATTR_PD,
                                           .pd = world.pd};
        side.qp = ibv_create_qp_ex(world.context, &init);
        if (!side.qp && errno == EOPNOTSUPP)
            unsupported("XRC");
        REQUIRE(side.qp, "create_qp_ex");
        struct card peer = exchange(stream, &side, 0);
        connect_to(&side, &options, peer.qp_num);
        wait_for(stream);
        if (attempt == GOOD) {
            send_all(&side, &peer, stream);
        } else if (is_listed(attempt)) {
            post_list(&side, &peer, attempt);
            REQUIRE(state_of(side.qp) == IBV_QPS_ERR, "attempt %d", attempt);
            tell(stream, "d", 1);
        } else {
            int writes = attempt == UNKNOWN_WRITE || attempt == WRONG_KEY;
            struct ibv_sge sge = piece(&side, 0, attempt == TOO_LONG ? SHORT + 1 : SHORT);
            struct ibv_send_wr wr = request_to(&sge, &peer, attempt, writes ? IBV_WR_RDMA_WRITE : IBV_WR_SEND);
            wr.wr.rdma.rkey += attempt == WRONG_KEY ? 1 << 12 : 0;
            post_and_expect(&side, &wr, peer.srq_num, outcomes[attempt].status);
            REQUIRE(state_of(side.qp) == IBV_QPS_ERR, "attempt %d", attempt);
            tell(stream, "d", 1);
        }
        REQUIRE(ibv_destroy_qp(side.qp) == 0, "destroy_qp");
    }
    join_child(child);
    no_memory(&side);
    world_close(&world);
    return ok("xrc_requests");
}
