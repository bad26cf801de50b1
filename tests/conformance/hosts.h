/* Which ranks are on one host, by Linux and not by MPI; which share memory. */
#ifndef WEFT_TESTS_HOSTS_H
#define WEFT_TESTS_HOSTS_H

#include <sys/utsname.h>
#include "check.h"

/* WEFT_TRANSPORT=tcp or rdma: no rank shares memory with another. */
static inline int shares_nothing(void)
{
    const char *transport = getenv("WEFT_TRANSPORT");
    return transport && (strcmp(transport, "tcp") == 0 || strcmp(transport, "rdma") == 0);
}

/* For each rank of the world the first one of the same name. The caller frees it. */
static inline int *first_of_name(int apart)
{
    struct utsname here;
    enum { NAME = sizeof here.nodename };
    char (*names)[NAME] = need((size_t)size_of_world * NAME);
    int *first = need((size_t)size_of_world * sizeof *first);
    CHECK_EQUAL(uname(&here), 0, "uname(2)");
    if (apart)
        snprintf(here.nodename, NAME, "%d", rank_of_world);
    MPI_Allgather(here.nodename, NAME, MPI_CHAR, names, NAME, MPI_CHAR, MPI_COMM_WORLD);
    for (int rank = 0; rank < size_of_world; rank++)
        for (first[rank] = 0; strncmp(names[first[rank]], names[rank], NAME) != 0;)
            first[rank]++;
    free(names);
    return first;
}

/* The first rank on each one's host. */
static inline int *first_on_host(void)
{
    return first_of_name(0);
}

/* The first rank with which each one shares memory. */
static inline int *first_sharing(void)
{
    return first_of_name(shares_nothing());
}

/* How many ranks are where this one is. */
static inline int ranks_beside(const int *first)
{
    int count = 0;
    for (int rank = 0; rank < size_of_world; rank++)
        count += first[rank] == first[rank_of_world];
    return count;
}

#endif
