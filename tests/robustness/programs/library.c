/* library: prints which MPI library this process runs on, and the file it was loaded from. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, rank;
    Dl_info where;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(version, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && dladdr((void *)MPI_Finalize, &where))
        printf("library: %s\nversion: %s\n", where.dli_fname, version);
    MPI_Finalize();
    return 0;
}
