/* Nonblocking collective accesses of several threads, each with a file of its own, begun while others end: MPI-5.0 §11.6, §14.4. What makes
 * progress for them while the program computes comes and goes with them. */
#include "files.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 400, INTS = 8 };

static MPI_File files[THREADS];

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument;
    int data[INTS], back[INTS];
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        MPI_Offset at = (MPI_Offset)(round * size_of_world + rank_of_world) * INTS * sizeof(int);
        for (int i = 0; i < INTS; i++)
            data[i] = thread * 1000000 + round * 1000 + rank_of_world * 10 + i;
        CHECK_CLASS(MPI_File_iwrite_at_all(files[thread], at, data, INTS, MPI_INT, &requests[0]), MPI_SUCCESS, "§14.4.2");
        if (round % 2)
            CHECK_CLASS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
        for (int done = 0; round % 2 == 0 && !done;)
            CHECK_CLASS(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
        CHECK_CLASS(MPI_File_iread_at_all(files[thread], at, back, INTS, MPI_INT, &requests[1]), MPI_SUCCESS, "§14.4.2");
        CHECK_CLASS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
        CHECK(memcmp(back, data, sizeof data) == 0, "§14.6.1", "thread %d, round %d", thread, round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "in_threads");
    MPI_Comm comms[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        name_file();
        int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
        CHECK_CLASS(MPI_File_open(comms[i], file_name, mode, MPI_INFO_NULL, &files[i]), MPI_SUCCESS, "§14.2.1");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        close_file(files[i]);
        MPI_Comm_free(&comms[i]);
    }
    return check_finish();
}
