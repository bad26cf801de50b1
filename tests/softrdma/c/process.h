/* Two processes that tell each other their queue pair and memory over a stream. */
#ifndef PROCESS_H
#define PROCESS_H

#include "case.h"

/* As much of the other process's side as a request needs: `buffer` is an address over there. */
struct card {
    uint32_t qp_num, rkey, srq_num;
    uint64_t address;
    union ibv_gid gid;
    int lid;
};

static inline struct card exchange(int stream, const struct side *side, uint32_t srq_num)
{
    struct world *world = side->world;
    struct card mine = {.qp_num = side->qp ? side->qp->qp_num : 0,
                        .rkey = side->mr->rkey,
                        .srq_num = srq_num,
                        .address = (uintptr_t)side->buffer,
                        .gid = world->gid,
                        .lid = world->port.lid};
    struct card theirs;
    tell(stream, &mine, sizeof mine);
    hear(stream, &theirs, sizeof theirs);
    world->peer_gid = theirs.gid;
    world->peer_lid = theirs.lid;
    return theirs;
}

static inline struct ibv_send_wr request_to(struct ibv_sge *sge, const struct card *card, uint64_t id, int opcode)
{
    struct ibv_send_wr wr = {
        .wr_id = id, .sg_list = sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
    wr.wr.rdma.remote_addr = card->address;
    wr.wr.rdma.rkey = card->rkey;
    return wr;
}

#endif
