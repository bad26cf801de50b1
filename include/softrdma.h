/* What the RDMA device in software has beyond libibverbs: the level of sharing of thread domains, and an account of the
 * adapter's resources. docs/uar-accounting.md explains the model.
 *
 * softrdma_stat and softrdma_context_stat are symbols of the device's libibverbs.so.1 and of no other: a program that must also
 * start on real adapters looks them up with dlsym(RTLD_DEFAULT, ...).
 */
#ifndef SOFTRDMA_H
#define SOFTRDMA_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Thread domains: ibv_alloc_td with this longer structure in place of ibv_td_init_attr. Real adapters and libibverbs know no
 * bit of comp_mask yet and answer EINVAL. */
#define SOFTRDMA_TD_INIT_ATTR_SHARING (1u << 31)

struct softrdma_td_init_attr {
    uint32_t comp_mask; /* SOFTRDMA_TD_INIT_ATTR_SHARING: the next field is there */
    uint32_t sharing;   /* 1: a UAR page of its own; 2: a uUAR of its own on a page that another domain may be on */
};

/* A thread domain of that level; null with errno EINVAL for another level, ENOMEM when there is no UAR page left. */
static inline struct ibv_td *softrdma_alloc_td(struct ibv_context *context, uint32_t sharing) {
    struct softrdma_td_init_attr attributes = {SOFTRDMA_TD_INIT_ATTR_SHARING, sharing};
    return ibv_alloc_td(context, (struct ibv_td_init_attr *)&attributes);
}

/* How often a lock was taken, and how often of those it was first found taken. */
struct softrdma_lock_stat {
    uint64_t takes;
    uint64_t contentions;
};

/* Sums over contexts. Fields are only ever added, at the end. */
struct softrdma_stat {
    uint64_t contexts;
    uint64_t static_uars, dynamic_uars; /* UAR pages */
    uint64_t static_uuars, dynamic_uuars;
    uint64_t used_uuars; /* with at least one queue pair; all others are wasted */
    uint64_t tds_level_1, tds_level_2;
    uint64_t pds, mrs, qps, cqs, srqs;
    uint64_t bytes;           /* by Table I of the paper */
    uint64_t requests, posts; /* on send queues, and the calls that posted them */
    uint64_t doorbells;
    uint64_t blueflame_writes, blueflame_bytes;
    struct softrdma_lock_stat send_lock, uuar_lock, receive_lock, cq_lock, srq_lock;
};

#define SOFTRDMA_THIS_PROCESS 0
#define SOFTRDMA_ALL_PROCESSES (-1) /* of this user and fabric (SOFTRDMA_FABRIC) */
#define SOFTRDMA_ALL_DEVICES (-1)

/* Figures of a process, or of all, on one device, or on all. `bytes` is the size of *stat: what this library knows and *stat
 * has no room for is left out, what *stat has more is zero. 0, or EINVAL for a null pointer or a number below -1, ESRCH for a
 * process that is not in the fabric, or why the fabric cannot be read. Figures of other processes may be a moment old. */
int softrdma_stat(int pid, int device, struct softrdma_stat *stat, size_t bytes);

/* Figures of one context of this process. */
int softrdma_context_stat(struct ibv_context *context, struct softrdma_stat *stat, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
