/* started_as: each rank prints what MPI_INFO_ENV holds of the options that its program was started with, a key it does not hold as "-". */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const keys[] = { "command", "argv", "maxprocs", "soft", "host", "file", "thread_level" };
    int rank;
    char line[4096];
    size_t used = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char value[512] = "-";
        int length = sizeof value, flag = 0;
        MPI_Info_get_string(MPI_INFO_ENV, keys[i], &length, value, &flag);
        used += (size_t)snprintf(line + used, sizeof line - used, " %s=%s", keys[i], flag ? value : "-");
    }
    printf("rank %d%s\n", rank, line);
    MPI_Finalize();
    return 0;
}
