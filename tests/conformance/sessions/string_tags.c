/* Threads that make communicators of one group at once, told apart by their string tags: MPI-5.0 §7.4.2. */
#include "session.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 10 };

static MPI_Session session;

static void *make(void *argument)
{
    int thread = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        char tag[MPI_MAX_STRINGTAG_LEN];
        snprintf(tag, sizeof tag, "org.example.thread-%d", thread);
        MPI_Comm comm = comm_of_set(session, "mpi://WORLD", tag);
        /* The threads of one number have one communicator. */
        int sum = -1, size;
        MPI_Comm_size(comm, &size);
        MPI_Allreduce(&thread, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQUAL(sum, size * thread, "MPI-5.0 §7.4.2");
        MPI_Comm_free(&comm);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    session = open_session();
    MPI_Comm world = comm_of_set(session, "mpi://WORLD", "start");
    adopt_comm(world, "string_tags");
    for (int i = 0; i < THREADS; i++) {
        /* In another order on every process. */
        int thread = (i + rank_of_world) % THREADS;
        pthread_create(&threads[i], NULL, make, (void *)(intptr_t)thread);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    report_on(world);
    MPI_Comm_free(&world);
    close_session(&session);
    return 0;
}
