/* unmet OPERATION: the last rank dies before anybody has talked to it. Rank 0, which sends to it or receives from it, must come out of that soon,
 * with MPI_ERR_PROC_ABORTED. Rank 1 computes for longer than that takes, and what it then sends to rank 0 arrives: it is not taken for dead. The
 * others wait in MPI for rank 0's word. All but the dead one say "ok unmet OPERATION RANK" and leave without MPI_Finalize. */
#include "expect.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPUTES_SECONDS = 8, BYTES = 1 << 20 };

static char memory[BYTES];

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    if (argc != 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int victim = size - 1;
    if (rank == victim)
        raise(SIGKILL);
    if (rank == 1)
        sleep(COMPUTES_SECONDS);
    if (rank == 0) {
        MPI_Request late;
        MPI_Irecv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &late);
        int code = MPI_SUCCESS;
        if (!strcmp(argv[1], "send"))
            code = MPI_Send(memory, 1, MPI_CHAR, victim, 0, MPI_COMM_WORLD);
        else if (!strcmp(argv[1], "large"))
            code = MPI_Send(memory, BYTES, MPI_CHAR, victim, 0, MPI_COMM_WORLD);
        else
            code = MPI_Recv(memory, 1, MPI_CHAR, victim, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(argv[1], code, MPI_ERR_PROC_ABORTED);
        expect("what rank 1 sends", MPI_Wait(&late, MPI_STATUS_IGNORE), MPI_SUCCESS);
        for (int to = 1; to < victim; to++)
            expect("send", MPI_Send(&word, 1, MPI_INT, to, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
        if (rank == 1)
            expect("send", MPI_Ssend(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        expect("receive", MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    printf("ok unmet %s %d\n", argv[1], rank);
    fflush(stdout);
    /* What was sent last is to arrive. */
    sleep(2);
    _exit(0);
}
