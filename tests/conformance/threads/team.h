/* A team of threads for the programs of this folder. */
#ifndef WEFT_TESTS_TEAM_H
#define WEFT_TESTS_TEAM_H

#include "check.h"
#include <pthread.h>

enum { THREADS = 4 };

typedef void team_function(int thread);

struct member {
    pthread_t handle;
    team_function *run;
    int index;
};

static inline void *run_member(void *argument)
{
    struct member *member = argument;
    member->run(member->index);
    return NULL;
}

/* Runs `run` in THREADS threads and waits for all of them. */
static inline void run_team(team_function *run)
{
    struct member members[THREADS];
    for (int t = 0; t < THREADS; t++) {
        members[t].run = run;
        members[t].index = t;
        CHECK(pthread_create(&members[t].handle, NULL, run_member, &members[t]) == 0, "a thread");
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(members[t].handle, NULL);
}

/* One communicator for each thread; made and freed by the main thread. */
static MPI_Comm thread_comms[THREADS];

static inline void create_thread_comms(void)
{
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &thread_comms[t]);
}

static inline void free_thread_comms(void)
{
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&thread_comms[t]);
}

/* A small generator, one state a thread. */
static inline int draw(uint32_t *state, int below)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)((*state >> 16) % (unsigned)below);
}

#endif
