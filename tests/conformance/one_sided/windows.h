/* Windows of every flavor, so that a check runs on each kind of memory. */
#ifndef WEFT_TESTS_WINDOWS_H
#define WEFT_TESTS_WINDOWS_H

#include "check.h"

enum { CREATED, ALLOCATED, SHARED, APART, DYNAMIC, FLAVORS };

struct window {
    MPI_Win win;
    int flavor;
    char *base;      /* of this process's part */
    MPI_Aint size;
    MPI_Aint *start; /* by rank: what a displacement of 0 bytes is; addresses in a dynamic window */
};

/* Whether all processes are on one host, as windows of shared memory have it (MPI-5.0 §12.2.3). */
static inline int is_on_one_host(void)
{
    MPI_Comm near;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &size);
    MPI_Comm_free(&near);
    return size == size_of_world;
}

/* Windows of shared memory are those of one host. */
static inline int has_flavor(int flavor) { return (flavor != SHARED && flavor != APART) || is_on_one_host(); }

/* A window with a part of `size` bytes on each process, of zeros, displacements in bytes. */
static inline struct window open_window(int flavor, MPI_Aint size)
{
    struct window w = {.flavor = flavor, .size = size};
    MPI_Info info = MPI_INFO_NULL;
    switch (flavor) {
    case CREATED:
        w.base = need(size);
        memset(w.base, 0, size);
        MPI_Win_create(w.base, size, 1, info, MPI_COMM_WORLD, &w.win);
        break;
    case ALLOCATED:
        MPI_Win_allocate(size, 1, info, MPI_COMM_WORLD, &w.base, &w.win);
        break;
    case SHARED:
        MPI_Win_allocate_shared(size, 1, info, MPI_COMM_WORLD, &w.base, &w.win);
        break;
    case APART:
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
        MPI_Win_allocate_shared(size, 1, info, MPI_COMM_WORLD, &w.base, &w.win);
        MPI_Info_free(&info);
        break;
    default:
        w.base = need(size);
        memset(w.base, 0, size);
        MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &w.win);
        MPI_Win_attach(w.win, w.base, size);
    }
    MPI_Aint start = 0;
    w.start = need(size_of_world * sizeof *w.start);
    if (flavor == DYNAMIC)
        MPI_Get_address(w.base, &start);
    MPI_Allgather(&start, 1, MPI_AINT, w.start, 1, MPI_AINT, MPI_COMM_WORLD);
    memset(w.base, 0, size);
    MPI_Barrier(MPI_COMM_WORLD);
    return w;
}

static inline void close_window(struct window *w)
{
    if (w->flavor == DYNAMIC) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(w->win, w->base);
    }
    MPI_Win_free(&w->win);
    if (w->flavor == CREATED || w->flavor == DYNAMIC)
        free(w->base);
    free(w->start);
}

static const char *const flavor_names[] = {"create", "allocate", "shared", "shared apart", "dynamic"};

/* The displacement of a byte of a process's part. */
static inline MPI_Aint at(const struct window *w, int rank, MPI_Aint byte) { return w->start[rank] + byte; }

#endif
