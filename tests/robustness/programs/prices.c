/* Says whose prices its algorithms are chosen by, and does blocking collective operations of several lengths, by messages at
 * first and then on memory that the ranks share: ranks that chose unlike algorithms would wait for each other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 8192, MOST = 1 << 16, TIMES = 20 };

static void check(int right, const char *what)
{
    if (!right) {
        printf("wrong: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    static int numbers[MOST], sums[MOST];
    char text[TEXT];
    int provided, rank, size, index, count;
    MPI_T_cvar_handle handle;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_cvar_get_index("weft_prices", &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    check(count < TEXT && MPI_T_cvar_read(handle, text) == MPI_SUCCESS, "the control variable");
    printf("rank %d: %s\n", rank, text);
    for (int time = 0; time < TIMES; time++)
        for (int length = 1; length <= MOST; length *= 16) {
            for (int i = 0; i < length; i++)
                numbers[i] = rank == 0 ? i + time : -1;
            MPI_Bcast(numbers, length, MPI_INT, 0, MPI_COMM_WORLD);
            check(numbers[length - 1] == length - 1 + time, "a broadcast");
            MPI_Allreduce(numbers, sums, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            check(sums[length - 1] == size * numbers[length - 1], "a sum");
        }
    MPI_T_cvar_handle_free(&handle);
    MPI_T_finalize();
    MPI_Finalize();
    if (rank == 0)
        puts("ok prices");
    return 0;
}
