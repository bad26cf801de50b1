/* where: each rank says where it believes to be: "at RANK NAME near N,N,..." with the ranks that share memory with it. */
#include "check.h"

int main(int count, char **words)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1], text[4096];
    int length, near_size, used;
    MPI_Comm near, mine;
    begin(&count, &words);
    MPI_Get_processor_name(name, &length);
    REQUIRE((int)strlen(name) == length && length > 0);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &near_size);
    int *ranks = memory((size_t)near_size * sizeof *ranks);
    MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, near);
    used = snprintf(text, sizeof text, "at %d %s near ", rank, name);
    for (int i = 0; i < near_size; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%d", i ? "," : "", ranks[i]);
    /* Memory that is said to be shared is. */
    MPI_Win window;
    int *base;
    MPI_Win_allocate_shared(sizeof *base, sizeof *base, MPI_INFO_NULL, near, &base, &window);
    MPI_Win_fence(0, window);
    *base = rank;
    MPI_Win_fence(0, window);
    for (int i = 0; i < near_size; i++) {
        MPI_Aint bytes;
        int unit, *theirs;
        MPI_Win_shared_query(window, i, &bytes, &unit, &theirs);
        REQUIRE(*theirs == ranks[i]);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_split(near, 0, rank, &mine);
    MPI_Comm_free(&mine);
    MPI_Comm_free(&near);
    puts(text);
    fflush(stdout);
    free(ranks);
    end("where");
    return 0;
}
