/* Beyond the standard, as MPICH and Open MPI have it and programs use it: reductions take MPI_CHAR as a signed integer, and logical
 * operations the types of addresses, offsets and counts. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "characters");
    char mine = (char)-(rank_of_world + 1), sum = 0, least = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &least, 1, MPI_CHAR, MPI_MIN, MPI_COMM_WORLD);
    int expected = -size_of_world * (size_of_world + 1) / 2;
    CHECK((signed char)sum == expected, "MPICH, Open MPI", "the sum is %d, not %d", (signed char)sum, expected);
    CHECK((signed char)least == -size_of_world, "MPICH, Open MPI", "the minimum is %d", (signed char)least);

    char *window_memory, before = 0;
    MPI_Win window;
    MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
    *window_memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(&mine, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, MPI_SUM, window);
    MPI_Win_flush(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Fetch_and_op(&mine, &before, MPI_CHAR, 0, 0, MPI_NO_OP, window);
    MPI_Win_unlock_all(window);
    CHECK((signed char)before == expected, "MPICH, Open MPI", "accumulated %d, not %d", (signed char)before, expected);
    MPI_Win_free(&window);

    MPI_Aint address = rank_of_world, both = 1;
    MPI_Offset offset = rank_of_world, either = 1;
    MPI_Count count = rank_of_world == 0, odd = 1;
    MPI_Allreduce(&address, &both, 1, MPI_AINT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Allreduce(&offset, &either, 1, MPI_OFFSET, MPI_LOR, MPI_COMM_WORLD);
    MPI_Allreduce(&count, &odd, 1, MPI_COUNT, MPI_LXOR, MPI_COMM_WORLD);
    CHECK(both == 0 && either == (size_of_world > 1) && odd == 1, "MPICH", "%lld %lld %lld", (long long)both, (long long)either,
          (long long)odd);
    return check_finish();
}
