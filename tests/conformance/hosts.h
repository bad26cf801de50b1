/* Which ranks are on one host, by Linux and not by MPI. */
#ifndef WEFT_TESTS_HOSTS_H
#define WEFT_TESTS_HOSTS_H

#include <sys/utsname.h>
#include "check.h"

/* For each rank of the world the first one on its host. The caller frees it. */
static inline int *first_on_host(void)
{
    struct utsname here;
    enum { NAME = sizeof here.nodename };
    char (*names)[NAME] = need((size_t)size_of_world * NAME);
    int *first = need((size_t)size_of_world * sizeof *first);
    CHECK_EQUAL(uname(&here), 0, "uname(2)");
    MPI_Allgather(here.nodename, NAME, MPI_CHAR, names, NAME, MPI_CHAR, MPI_COMM_WORLD);
    for (int rank = 0; rank < size_of_world; rank++)
        for (first[rank] = 0; strncmp(names[first[rank]], names[rank], NAME) != 0;)
            first[rank]++;
    free(names);
    return first;
}

/* How many ranks are on the host of this one. */
static inline int ranks_beside(const int *first)
{
    int count = 0;
    for (int rank = 0; rank < size_of_world; rank++)
        count += first[rank] == first[rank_of_world];
    return count;
}

#endif
