/* What the programs here share: a device, two queue pairs of one process connected to each other, and checks.
 *
 * Each program shows one clause of the verbs on whatever device comes first: the software device, the kernel's rxe, or an
 * adapter. It prints `ok NAME` and ends with 0, or says what differed and ends with 1; 77 means that the device does not
 * have the feature.
 */
#ifndef CASE_H
#define CASE_H

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, PORT = 1, QKEY = 0x1234, UNSUPPORTED = 77, PATIENCE_MS = 10000 };

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                                            \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fprintf(stderr, " (errno %d)\n", errno);                                                                   \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

struct world {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_port_attr port;
    union ibv_gid gid;
    int gid_index;
    /* Where the peer is: here, until another process's card says otherwise. */
    union ibv_gid peer_gid;
    int peer_lid;
};

/* One queue pair with what belongs to it. */
struct side {
    struct world *world;
    struct ibv_cq *send_cq, *receive_cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char *buffer;
};

struct options {
    enum ibv_qp_type type;
    struct ibv_srq *srq;
    int depth, inline_bytes, signal_all, access, cq_entries;
    int timeout, retry, rnr_retry, rnr_timer;
    uint32_t rq_psn, sq_psn;
};

/* Every right, a queue of 64, half a second of retries, receivers waited for as long as it takes. */
static const struct options usual = {
    .type = IBV_QPT_RC,
    .depth = 64,
    .inline_bytes = 64,
    .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    .cq_entries = 256,
    .timeout = 12,
    .retry = 7,
    .rnr_retry = 7,
    .rnr_timer = 1,
    .rq_psn = 100,
    .sq_psn = 100,
};

static inline long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static inline void unsupported(const char *what)
{
    printf("unsupported: %s\n", what);
    exit(UNSUPPORTED);
}

static inline void world_open(struct world *world)
{
    memset(world, 0, sizeof *world);
    int count = 0;
    struct ibv_device **devices = ibv_get_device_list(&count);
    REQUIRE(devices && count > 0, "no device");
    world->context = ibv_open_device(devices[0]);
    REQUIRE(world->context, "open");
    ibv_free_device_list(devices);
    world->pd = ibv_alloc_pd(world->context);
    REQUIRE(world->pd, "pd");
    REQUIRE(ibv_query_port(world->context, PORT, &world->port) == 0, "query_port");
    REQUIRE(world->port.state == IBV_PORT_ACTIVE, "port state %d", world->port.state);
    for (int index = 0; index < world->port.gid_tbl_len; index++) {
        union ibv_gid gid;
        if (ibv_query_gid(world->context, PORT, index, &gid))
            break;
        if (gid.raw[10] == 0xff && gid.raw[11] == 0xff) {
            world->gid = gid;
            world->gid_index = index;
            break;
        }
    }
    world->peer_gid = world->gid;
    world->peer_lid = world->port.lid;
}

/* The kernel's software device, which differs from adapters where a program asks. */
static inline int is_rxe(const struct world *world)
{
    return strncmp(ibv_get_device_name(world->context->device), "rxe", 3) == 0;
}

static inline void world_close(struct world *world)
{
    REQUIRE(ibv_dealloc_pd(world->pd) == 0, "dealloc_pd");
    REQUIRE(ibv_close_device(world->context) == 0, "close");
}

static inline void side_open(struct world *world, struct side *side, const struct options *options)
{
    side->world = world;
    side->buffer = aligned_alloc(4096, BUFFER);
    memset(side->buffer, 0, BUFFER);
    side->mr = ibv_reg_mr(world->pd, side->buffer, BUFFER, options->access);
    REQUIRE(side->mr, "reg_mr");
    side->send_cq = ibv_create_cq(world->context, options->cq_entries, side, NULL, 0);
    side->receive_cq = ibv_create_cq(world->context, options->cq_entries, side, NULL, 0);
    REQUIRE(side->send_cq && side->receive_cq, "create_cq");
    struct ibv_qp_init_attr init = {
        .send_cq = side->send_cq,
        .recv_cq = side->receive_cq,
        .srq = options->srq,
        .cap = {.max_send_wr = options->depth,
                .max_recv_wr = options->srq ? 0 : options->depth,
                .max_send_sge = 4,
                .max_recv_sge = 4,
                .max_inline_data = options->inline_bytes},
        .qp_type = options->type,
        .sq_sig_all = options->signal_all,
    };
    side->qp = ibv_create_qp(world->pd, &init);
    REQUIRE(side->qp, "create_qp");
}

static inline void side_close(struct side *side)
{
    REQUIRE(ibv_destroy_qp(side->qp) == 0, "destroy_qp");
    REQUIRE(ibv_destroy_cq(side->send_cq) == 0, "destroy_cq");
    REQUIRE(ibv_destroy_cq(side->receive_cq) == 0, "destroy_cq");
    REQUIRE(ibv_dereg_mr(side->mr) == 0, "dereg_mr");
    free(side->buffer);
}

static inline int to_init(struct ibv_qp *qp, const struct options *options)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = PORT, .qkey = QKEY, .qp_access_flags = options->access};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    return ibv_modify_qp(qp, &attr, mask | (options->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static inline struct ibv_ah_attr path_to(struct world *world, const union ibv_gid *gid, int lid)
{
    struct ibv_ah_attr path = {.dlid = lid, .port_num = PORT};
    if (world->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
        path.is_global = 1;
        path.grh.dgid = *gid;
        path.grh.sgid_index = world->gid_index;
        path.grh.hop_limit = 64;
    }
    return path;
}

static inline int to_rtr(struct world *world, struct ibv_qp *qp, const struct options *options, uint32_t remote)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = remote,
        .rq_psn = options->rq_psn,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = options->rnr_timer,
        .ah_attr = path_to(world, &world->peer_gid, world->peer_lid),
    };
    int mask = IBV_QP_STATE;
    if (options->type != IBV_QPT_UD)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (options->type == IBV_QPT_RC || options->type == IBV_QPT_XRC_RECV)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return ibv_modify_qp(qp, &attr, mask);
}

static inline int to_rts(struct ibv_qp *qp, const struct options *options)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS,
        .sq_psn = options->sq_psn,
        .timeout = options->timeout,
        .retry_cnt = options->retry,
        .rnr_retry = options->rnr_retry,
        .max_rd_atomic = 4,
    };
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (options->type == IBV_QPT_RC || options->type == IBV_QPT_XRC_SEND)
        mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    if (options->type != IBV_QPT_UC && options->type != IBV_QPT_UD)
        mask |= IBV_QP_TIMEOUT;
    return ibv_modify_qp(qp, &attr, mask);
}

static inline void connect_to(struct side *side, const struct options *options, uint32_t remote)
{
    REQUIRE(to_init(side->qp, options) == 0, "to INIT");
    REQUIRE(to_rtr(side->world, side->qp, options, remote) == 0, "to RTR");
    REQUIRE(to_rts(side->qp, options) == 0, "to RTS");
}

/* Two sides, connected to each other. */
static inline void pair_open(struct world *world, struct side sides[2], const struct options *options)
{
    side_open(world, &sides[0], options);
    side_open(world, &sides[1], options);
    connect_to(&sides[0], options, sides[1].qp->qp_num);
    connect_to(&sides[1], options, sides[0].qp->qp_num);
}

static inline void pair_close(struct side sides[2])
{
    side_close(&sides[0]);
    side_close(&sides[1]);
}

static inline enum ibv_qp_state state_of(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    REQUIRE(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0, "query_qp");
    return attr.qp_state;
}

static inline void await_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
    for (long end = now_ms() + PATIENCE_MS; state_of(qp) != state; usleep(1000))
        REQUIRE(now_ms() < end, "state is %d and not %d", state_of(qp), state);
}

/* A piece of the side's own buffer. */
static inline struct ibv_sge piece(const struct side *side, size_t offset, uint32_t bytes)
{
    return (struct ibv_sge){.addr = (uintptr_t)side->buffer + offset, .length = bytes, .lkey = side->mr->lkey};
}

static inline int receive(struct side *side, uint64_t id, size_t offset, uint32_t bytes)
{
    struct ibv_sge sge = piece(side, offset, bytes);
    struct ibv_recv_wr request = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(side->qp, &request, &bad);
}

/* A signalled request over the first `bytes` at `offset`; one-sided ones go to the same offset of the peer's buffer. */
static inline struct ibv_send_wr request(struct ibv_sge *sge, const struct side *peer, uint64_t id, int opcode,
                                         size_t offset)
{
    struct ibv_send_wr request = {
        .wr_id = id, .sg_list = sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        request.wr.atomic.remote_addr = (uintptr_t)peer->buffer + offset;
        request.wr.atomic.rkey = peer->mr->rkey;
    } else if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
        request.wr.rdma.remote_addr = (uintptr_t)peer->buffer + offset;
        request.wr.rdma.rkey = peer->mr->rkey;
    }
    return request;
}

static inline int post_one(struct side *side, struct ibv_send_wr *request)
{
    struct ibv_send_wr *bad = NULL;
    return ibv_post_send(side->qp, request, &bad);
}

static inline int post(struct side *side, const struct side *peer, uint64_t id, int opcode, size_t offset,
                       uint32_t bytes)
{
    struct ibv_sge sge = piece(side, offset, bytes);
    struct ibv_send_wr one = request(&sge, peer, id, opcode, offset);
    return post_one(side, &one);
}

/* The next completion within that time; 0 where none comes. */
static inline int completion(struct ibv_cq *cq, struct ibv_wc *wc, long patience_ms)
{
    for (long end = now_ms() + patience_ms;;) {
        int found = ibv_poll_cq(cq, 1, wc);
        REQUIRE(found >= 0, "poll_cq");
        if (found || now_ms() > end)
            return found;
    }
}

static inline struct ibv_wc expect_at(int line, struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status)
{
    struct ibv_wc wc;
    if (!completion(cq, &wc, PATIENCE_MS)) {
        fprintf(stderr, "line %d: no completion of request %lu\n", line, (unsigned long)id);
        _exit(1);
    }
    if (wc.wr_id != id || wc.status != status) {
        fprintf(stderr, "line %d: request %lu, %s; expected %lu, %s\n", line, (unsigned long)wc.wr_id,
                ibv_wc_status_str(wc.status), (unsigned long)id, ibv_wc_status_str(status));
        _exit(1);
    }
    return wc;
}
#define expect(cq, id, status) expect_at(__LINE__, cq, id, status)

#define expect_nothing(cq, ms)                                                                                         \
    do {                                                                                                               \
        struct ibv_wc wc_;                                                                                             \
        REQUIRE(!completion(cq, &wc_, ms), "request %lu completed: %s", (unsigned long)wc_.wr_id,                      \
                ibv_wc_status_str(wc_.status));                                                                        \
    } while (0)

/* The next asynchronous event of that type within the patience; others are acknowledged and passed over. */
static inline struct ibv_async_event await_event(struct ibv_context *context, enum ibv_event_type type)
{
    for (long end = now_ms() + PATIENCE_MS;;) {
        struct pollfd ready = {.fd = context->async_fd, .events = POLLIN};
        long left = end - now_ms();
        REQUIRE(left > 0 && poll(&ready, 1, (int)left) == 1, "no event %s", ibv_event_type_str(type));
        struct ibv_async_event event;
        REQUIRE(ibv_get_async_event(context, &event) == 0, "get_async_event");
        ibv_ack_async_event(&event);
        if (event.event_type == type)
            return event;
    }
}

/* TEST_NETNS=PATH:PATH puts the two processes into network namespaces of their own, two hosts to the device. */
static inline void enter_namespace(int which)
{
    char *both = getenv("TEST_NETNS"), *paths[2];
    if (!both || !(both = strdup(both)))
        return;
    paths[0] = strtok(both, ":");
    paths[1] = strtok(NULL, ":");
    int fd = paths[1] ? open(paths[which], O_RDONLY) : -1;
    REQUIRE(fd >= 0 && setns(fd, CLONE_NEWNET) == 0, "TEST_NETNS");
    close(fd);
    free(both);
}

/* Two processes with a stream between them, parted before either touches the device. */
static inline int part(int *stream)
{
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    int child = fork();
    REQUIRE(child >= 0, "fork");
    *stream = ends[child == 0];
    close(ends[child != 0]);
    enter_namespace(child == 0);
    return child;
}

static inline void tell(int stream, const void *data, size_t bytes)
{
    REQUIRE(write(stream, data, bytes) == (ssize_t)bytes, "tell");
}

static inline void hear(int stream, void *data, size_t bytes)
{
    REQUIRE(recv(stream, data, bytes, MSG_WAITALL) == (ssize_t)bytes, "the other process ended");
}

static inline void join_child(int child)
{
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
            "the other process failed");
}

static inline int ok(const char *name)
{
    printf("ok %s\n", name);
    return 0;
}

#endif
