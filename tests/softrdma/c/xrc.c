/* XRC between processes: a domain shared by a file's inode, receive queues chosen by each send, one receiving queue pair
 * that a second process opens and that outlives its maker. */
#include "process.h"

static struct ibv_xrcd *domain(struct world *world, int fd)
{
    struct ibv_xrcd_init_attr init = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = O_CREAT};
    struct ibv_xrcd *xrcd = ibv_open_xrcd(world->context, &init);
    if (!xrcd && errno == EOPNOTSUPP)
        unsupported("XRC");
    REQUIRE(xrcd, "open_xrcd");
    return xrcd;
}

static struct ibv_srq *queue(struct world *world, struct ibv_xrcd *xrcd, struct ibv_cq *cq, struct side *side, int id)
{
    struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 16, .max_sge = 1},
                                        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
                                                     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = world->pd,
                                        .xrcd = xrcd,
                                        .cq = cq};
    struct ibv_srq *srq = ibv_create_srq_ex(world->context, &init);
    REQUIRE(srq, "create_srq_ex");
    for (int i = 0; i < 8; i++) {
        struct ibv_sge sge = piece(side, 64 * i, 64);
        struct ibv_recv_wr wr = {.wr_id = id + i, .sg_list = &sge, .num_sge = 1}, *bad;
        REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0, "post_srq_recv");
    }
    return srq;
}

static void memory(struct world *world, struct side *side)
{
    memset(side, 0, sizeof *side);
    side->world = world;
    side->buffer = aligned_alloc(4096, BUFFER);
    memset(side->buffer, 0, BUFFER);
    side->mr = ibv_reg_mr(world->pd, side->buffer, BUFFER, usual.access);
    side->receive_cq = ibv_create_cq(world->context, 64, NULL, NULL, 0);
    REQUIRE(side->mr && side->receive_cq, "memory");
}

/* A receiving process: has a queue of its own in the shared domain. The first one makes the queue pair, the second opens
 * it; then the first one leaves and the second goes on receiving. */
static void receiver(int fd, int stream, int first)
{
    struct world world;
    struct side side;
    struct options options = usual;
    options.type = IBV_QPT_XRC_RECV;
    world_open(&world);
    memory(&world, &side);
    struct ibv_xrcd *xrcd = domain(&world, fd);
    struct ibv_srq *srq = queue(&world, xrcd, side.receive_cq, &side, first ? 100 : 200);
    uint32_t number;
    REQUIRE(ibv_get_srq_num(srq, &number) == 0, "get_srq_num");
    if (first) {
        struct ibv_qp_init_attr_ex init = {
            .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};
        side.qp = ibv_create_qp_ex(world.context, &init);
        REQUIRE(side.qp, "create_qp_ex");
    }
    struct card peer = exchange(stream, &side, number);
    if (first) {
        connect_to(&side, &options, peer.qp_num);
    } else {
        struct ibv_qp_open_attr open = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
                                                     IBV_QP_OPEN_ATTR_TYPE,
                                        .qp_num = peer.srq_num, /* the number of the receiving queue pair, by way of the sender */
                                        .xrcd = xrcd,
                                        .qp_type = IBV_QPT_XRC_RECV};
        side.qp = ibv_open_qp(world.context, &open);
        REQUIRE(side.qp && side.qp->qp_num == peer.srq_num, "open_qp");
    }
    tell(stream, "r", 1);
    struct ibv_wc wc = expect(side.receive_cq, first ? 100 : 200, IBV_WC_SUCCESS);
    REQUIRE(strcmp(side.buffer, first ? "to the first" : "to the second") == 0, "data: %.20s", side.buffer);
    REQUIRE(wc.byte_len == 20, "length");
    if (!first)
        expect(side.receive_cq, 201, IBV_WC_SUCCESS);
    REQUIRE(ibv_destroy_qp(side.qp) == 0, "destroy_qp");
    REQUIRE(ibv_close_xrcd(xrcd) == EBUSY, "a domain in use");
    REQUIRE(ibv_destroy_srq(srq) == 0 && ibv_close_xrcd(xrcd) == 0, "destroy");
    ibv_destroy_cq(side.receive_cq);
    ibv_dereg_mr(side.mr);
    free(side.buffer);
    world_close(&world);
}

static void send_to(struct side *side, uint32_t srq, const char *words, uint64_t id)
{
    strcpy(side->buffer, words);
    struct ibv_sge sge = piece(side, 0, 20);
    struct ibv_send_wr wr = {.wr_id = id,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED,
                             .qp_type.xrc.remote_srqn = srq};
    REQUIRE(post_one(side, &wr) == 0, "post");
    expect(side->send_cq, id, IBV_WC_SUCCESS);
}

int main(void)
{
    char name[] = P_tmpdir "/xrc_domain_XXXXXX";
    int streams[2], children[2], fd = mkstemp(name);
    REQUIRE(fd >= 0 && unlink(name) == 0, "mkstemp");
    for (int i = 0; i < 2; i++) {
        children[i] = part(&streams[i]);
        if (!children[i]) {
            receiver(fd, streams[i], i == 0);
            return 0;
        }
    }
    struct world world;
    struct side side;
    struct options options = usual;
    char ready;
    options.type = IBV_QPT_XRC_SEND;
    world_open(&world);
    memory(&world, &side);
    side.send_cq = ibv_create_cq(world.context, 64, NULL, NULL, 0);
    struct ibv_qp_init_attr_ex init = {.send_cq = side.send_cq,
                                       .cap = {.max_send_wr = 16, .max_send_sge = 1},
                                       .qp_type = IBV_QPT_XRC_SEND,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD,
                                       .pd = world.pd};
    side.qp = ibv_create_qp_ex(world.context, &init);
    if (!side.qp && errno == EOPNOTSUPP)
        unsupported("XRC");
    REQUIRE(side.qp, "create_qp_ex");
    struct card first = exchange(streams[0], &side, 0);
    hear(streams[0], &ready, 1);
    struct card second = exchange(streams[1], &side, first.qp_num);
    hear(streams[1], &ready, 1);
    connect_to(&side, &options, first.qp_num);

    send_to(&side, second.srq_num, "to the second", 1);
    send_to(&side, first.srq_num, "to the first", 2);
    join_child(children[0]);
    /* Its maker is gone; the second process still holds the receiving queue pair open. */
    send_to(&side, second.srq_num, "to the second again", 3);
    join_child(children[1]);
    ibv_destroy_qp(side.qp);
    ibv_destroy_cq(side.send_cq);
    ibv_destroy_cq(side.receive_cq);
    ibv_dereg_mr(side.mr);
    free(side.buffer);
    world_close(&world);
    return ok("xrc");
}
