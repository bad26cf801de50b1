/* Random schedules of accesses of every kind, on windows of every kind, under every synchronisation, beside what each rank works out
 * that all parts and results must hold (MPI-5.0 §12). `schedules [SEED [ROUNDS]]`. MPICH 5.0.2 writes what lies between the entries of a
 * pair that it fetches, which is in no type map (§5.1), and may hang in a lock with MPI_MODE_NOCHECK. */
#include "accesses.h"

enum { WINDOWS = 3 };

enum sync { FENCE, GROUPS, LOCKS, LOCKS_AT_ONCE, LOCK_ALL, SYNCS };

static MPI_Group world_group;

static MPI_Aint random_size(void)
{
    static const long most[] = {64, 4096, 4096, 300 << 10, LARGEST};
    return below(8) == 0 ? 0 : 8 + below(most[below(5)]);
}

static void open_part(struct drawn_window *w)
{
    struct part *mine = &w->parts[rank_of_world];
    switch (w->flavor) {
    case CREATED:
        w->own = need(mine->size);
        MPI_Win_create(w->own, mine->size, mine->unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
        break;
    case ALLOCATED:
        MPI_Win_allocate(mine->size, mine->unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->own, &w->win);
        break;
    case DYNAMIC:
        w->own = need(mine->size);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
        if (mine->size > 0)
            MPI_Win_attach(w->win, w->own, mine->size);
        MPI_Get_address(w->own, &mine->start);
        break;
    default:
        MPI_Win_allocate_shared(mine->size, mine->unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->own, &w->win);
    }
    memset(w->own, 0, mine->size);
}

static struct drawn_window open_random_window(void)
{
    static const int units[] = {1, 1, 2, 4, 8, 16, 24};
    int flavors[] = {CREATED, ALLOCATED, DYNAMIC, SHARED};
    struct drawn_window w = {.flavor = flavors[below(is_on_one_host() ? 4 : 3)]};
    w.parts = need(size_of_world * sizeof *w.parts);
    for (int rank = 0; rank < size_of_world; rank++) {
        MPI_Aint size = random_size();
        int unit = units[below(7)];
        w.parts[rank] = (struct part){.size = size, .unit = w.flavor == DYNAMIC ? 1 : unit};
        w.parts[rank].bytes = calloc(size + 1, 1);
        w.parts[rank].known = malloc(size + 1);
        w.parts[rank].use = calloc(size + 1, sizeof(int));
        memset(w.parts[rank].known, true, size + 1);
    }
    open_part(&w);
    for (int rank = 0; rank < size_of_world; rank++)
        MPI_Bcast(&w.parts[rank].start, 1, MPI_AINT, rank, MPI_COMM_WORLD);
    return w;
}

static void close_random_window(struct drawn_window *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->flavor == DYNAMIC && w->parts[rank_of_world].size > 0)
        MPI_Win_detach(w->win, w->own);
    MPI_Win_free(&w->win);
    if (w->flavor == CREATED || w->flavor == DYNAMIC)
        free(w->own);
    for (int rank = 0; rank < size_of_world; rank++)
        free(w->parts[rank].bytes), free(w->parts[rank].known), free(w->parts[rank].use);
    free(w->parts);
}

static void fence_phase(struct drawn_window *w)
{
    MPI_Win_fence(below(2) ? MPI_MODE_NOPRECEDE : 0, w->win);
    start_accesses(w, -1);
    MPI_Win_fence(below(2) ? MPI_MODE_NOSUCCEED : 0, w->win);
}

/* The ranks for which the pattern has this rank as origin, or as target. */
static MPI_Group group_of(const struct drawn_window *w, bool targets)
{
    int *ranks = need(size_of_world * sizeof *ranks), count = 0;
    for (int other = size_of_world - 1; other >= 0; other--)
        if (w->pattern[targets ? rank_of_world * size_of_world + other : other * size_of_world + rank_of_world])
            ranks[count++] = other;
    MPI_Group group;
    MPI_Group_incl(world_group, count, ranks, &group);
    free(ranks);
    return group;
}

static void group_phase(struct drawn_window *w)
{
    bool unchecked = below(3) == 0, tests = below(2);
    MPI_Group targets = group_of(w, true), origins = group_of(w, false);
    MPI_Win_post(origins, unchecked ? MPI_MODE_NOCHECK : 0, w->win);
    if (unchecked)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(targets, unchecked ? MPI_MODE_NOCHECK : 0, w->win);
    start_accesses(w, -1);
    MPI_Win_complete(w->win);
    if (tests)
        for (int over = 0; !over;)
            MPI_Win_test(w->win, &over);
    else
        MPI_Win_wait(w->win);
    MPI_Group_free(&targets), MPI_Group_free(&origins);
}

/* One of the ways to complete all accesses to a target; the epoch goes on. */
static void complete_at(struct drawn_window *w, int target, int how)
{
    if (how == 0) {
        MPI_Win_flush_local(target, w->win);
        /* What was given is the program's again. */
        for (int i = 0; i < access_count; i++)
            if (accesses[i].origin == rank_of_world && accesses[i].target == target) {
                check_result(&accesses[i]);
                for (long k = 0; k < accesses[i].elements; k++)
                    memset(accesses[i].origin_memory + element_at(&accesses[i].at_origin, k), 0x77, accesses[i].at_origin.basic->size);
            }
    }
    if (how <= 1)
        MPI_Win_flush(target, w->win);
}

static void locks_phase(struct drawn_window *w)
{
    int shift = (int)below(size_of_world), hows = (int)below(1000);
    for (int i = 0; i < size_of_world; i++) {
        int target = (rank_of_world + i + shift) % size_of_world, salt = hows + rank_of_world * 7 + target * 3;
        MPI_Win_lock(salt % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w->win);
        start_accesses(w, target);
        finish_requests(target);
        complete_at(w, target, salt / 2 % 3);
        MPI_Win_unlock(target, w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void locks_at_once_phase(struct drawn_window *w)
{
    int unchecked = below(2) ? MPI_MODE_NOCHECK : 0;
    for (int target = 0; target < size_of_world; target++)
        MPI_Win_lock(MPI_LOCK_SHARED, target, unchecked, w->win);
    start_accesses(w, -1);
    finish_requests(-1);
    for (int target = size_of_world - 1; target >= 0; target--)
        MPI_Win_unlock(target, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Without the beginning and the end of the epoch. */
static void lock_all_phase(struct drawn_window *w)
{
    int how = (int)below(4);
    /* What the owner has stored is there before others come. */
    MPI_Win_sync(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    start_accesses(w, -1);
    finish_requests(-1);
    if (how == 0)
        MPI_Win_flush_local_all(w->win);
    for (int target = 0; target < size_of_world && how < 3; target++)
        complete_at(w, target, 1);
    if (how == 3)
        MPI_Win_flush_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w->win);
}

static void check_own_part(const struct drawn_window *w, int round, enum sync sync)
{
    const struct part *mine = &w->parts[rank_of_world];
    long byte = first_difference(mine, w->own);
    CHECK(byte < 0, "MPI-5.0 §12.7", "round %d, synchronisation %d, window of flavor %s: byte %ld of %ld is %02x, expected %02x", round, sync, flavor_names[w->flavor], byte,
          (long)mine->size, byte < 0 ? 0 : w->own[byte], byte < 0 ? 0 : mine->bytes[byte]);
    for (int rank = 0; rank < size_of_world; rank++)
        memset(w->parts[rank].use, 0, w->parts[rank].size * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one_phase(struct drawn_window *w, int round, enum sync sync)
{
    bool is_passive = sync >= LOCKS;
    w->pattern = need((size_t)size_of_world * size_of_world);
    for (int i = 0; i < size_of_world * size_of_world; i++)
        w->pattern[i] = (char)below(2);
    bool locks_own = sync == LOCKS || sync == LOCKS_AT_ONCE;
    if (locks_own)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_of_world, 0, w->win);
    for (int tries = 1 + (int)below(MOST_ACCESSES); tries > 0; tries--)
        add_access(w, is_passive, sync == GROUPS);
    if (locks_own) {
        MPI_Win_unlock(rank_of_world, w->win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    switch (sync) {
    case FENCE: fence_phase(w); break;
    case GROUPS: group_phase(w); break;
    case LOCKS: locks_phase(w); break;
    case LOCKS_AT_ONCE: locks_at_once_phase(w); break;
    default: lock_all_phase(w);
    }
    finish_accesses();
    check_own_part(w, round, sync);
    free(w->pattern);
}

static void one_round(struct drawn_window *w, int round)
{
    enum sync sync = below(SYNCS);
    int phases = 1 + (int)below(3);
    if (sync == LOCK_ALL)
        MPI_Win_lock_all(below(2) ? MPI_MODE_NOCHECK : 0, w->win);
    for (; phases > 0; phases--)
        one_phase(w, round, sync);
    if (sync == LOCK_ALL)
        MPI_Win_unlock_all(w->win);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "schedules");
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 60;
    struct drawn_window windows[WINDOWS];
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    make_basics(), make_ops();
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    for (int i = 0; i < WINDOWS; i++)
        windows[i] = open_random_window();
    for (int round = 0; round < rounds; round++) {
        int which = (int)below(WINDOWS);
        one_round(&windows[which], round);
        if (below(8) == 0) {
            close_random_window(&windows[which]);
            windows[which] = open_random_window();
        }
    }
    for (int i = 0; i < WINDOWS; i++)
        close_random_window(&windows[i]);
    CHECK(accesses_done > 0 || rounds < 10, "this program does what it says");
    MPI_Group_free(&world_group);
    free_basics();
    return check_finish();
}
