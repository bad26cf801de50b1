/* A process frees or disconnects a communicator as soon as its own part of the last operation is done, while others still
 * read what it gave them; and one that has forked, and whose child still lives, goes on. MPI-5.0 §7.4.3, §11.10.4. */
#include "check.h"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 60, OPERATIONS = 9, LONG = 6000 };

static int data[LONG];

static void rounds(int disconnects)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        int root = round % size_of_world, length = round % 3 ? 1 + round : LONG;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < OPERATIONS; i++)
            MPI_Barrier(comm);
        if (rank_of_world != root)
            nanosleep(&(struct timespec){ .tv_nsec = 200000 * (rank_of_world + 1) }, NULL);
        for (int i = 0; i < length; i++)
            data[i] = rank_of_world == root ? round * LONG + i : -1;
        MPI_Bcast(data, length, MPI_INT, root, comm);
        if (disconnects)
            MPI_Comm_disconnect(&comm);
        else
            MPI_Comm_free(&comm);
        for (int i = 0; i < length; i++)
            CHECK_EQUAL(data[i], round * LONG + i, "MPI-5.0 §7.4.3");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "free_while_read");
    rounds(0);
    rounds(1);
    pid_t child = fork();
    if (child == 0) {
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
        _exit(7);
    }
    CHECK(child > 0, "fork(2)");
    rounds(0);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "waitpid(2)");
    rounds(1);
    return check_finish();
}
