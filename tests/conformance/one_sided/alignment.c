/* mpi_minimum_memory_alignment of memory that windows bring: where it is, what MPI_Win_get_info tells, and that accesses and
 * shared parts go to the same memory: MPI-5.0 §9.2, §12.2.2, §12.2.3, §12.2.7. */
#include "windows.h"

static long told(MPI_Win win)
{
    MPI_Info used;
    char text[32] = "";
    int room = sizeof text, flag = 0;
    MPI_Win_get_info(win, &used);
    MPI_Info_get_string(used, "mpi_minimum_memory_alignment", &room, text, &flag);
    MPI_Info_free(&used);
    CHECK(flag, "§12.2.7");
    return atol(text);
}

static MPI_Info asking(const char *alignment, int apart)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", alignment);
    MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
    return info;
}

/* What each process puts into the next one's memory is found where the hint wants it. */
static void one(int flavor, const char *alignment, MPI_Aint bytes, long expected)
{
    MPI_Info info = asking(alignment, flavor == APART);
    long *base = NULL, value = 7000 + rank_of_world;
    MPI_Win win;
    if (flavor == ALLOCATED)
        MPI_Win_allocate(bytes, 8, info, MPI_COMM_WORLD, &base, &win);
    else
        MPI_Win_allocate_shared(bytes, 8, info, MPI_COMM_WORLD, &base, &win);
    CHECK((uintptr_t)base % (uintptr_t)expected == 0, "§12.2.2", "%s: at %p", alignment, (void *)base);
    CHECK(told(win) >= expected && (uintptr_t)base % (uintptr_t)told(win) == 0, "§12.2.7", "%s: %ld", alignment, told(win));
    /* What is there already stays where it is. */
    long before = told(win);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "1073741824");
    MPI_Win_set_info(win, info);
    CHECK_EQUAL(told(win), before, "§12.2.7");
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, right_neighbour(), bytes / 8 - 1, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK_EQUAL(base[bytes / 8 - 1], 7000 + left_neighbour(), "§12.3");
    if (flavor != ALLOCATED) {
        long *part;
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(win, right_neighbour(), &size, &unit, &part);
        CHECK(size == bytes && part[bytes / 8 - 1] == 7000 + rank_of_world, "§12.2.3: the same memory");
    }
    MPI_Win_free(&win);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    static const char *const asked[] = { "64", "4096", "8192", "65536", "2097152" };
    static const char *const none[] = { "0", "-8", "48", "many" };
    check_start(&argc, &argv, "alignment");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        long alignment = atol(asked[i]);
        one(ALLOCATED, asked[i], 24, alignment);
        if (has_flavor(SHARED)) {
            one(APART, asked[i], 24, alignment);
            /* Parts that follow each other are as far aligned as their lengths let them. */
            one(SHARED, asked[i], alignment, alignment);
            one(SHARED, asked[i], 24, rank_of_world ? 8 : alignment);
        }
    }
    /* A value that a hint cannot have is no hint (§10). */
    for (size_t i = 0; i < 4; i++)
        one(ALLOCATED, none[i], 24, 8);
    return check_finish();
}
