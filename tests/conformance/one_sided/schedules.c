/* Random schedules of accesses of every kind, on windows of every kind, under every synchronisation, beside what each rank works out
 * that all parts and results must hold (MPI-5.0 §12). `schedules [SEED [ROUNDS]]`. */
#include "oracle.h"
#include "windows.h"

enum { WINDOWS = 3, LARGEST = 3 << 20, MOST_ACCESSES = 64 };

struct shared_window {
    MPI_Win win;
    int flavor;
    unsigned char *own; /* this process's memory */
    struct part *parts;
    char *pattern; /* that of who reaches whom in an epoch of groups, by origin and target */
};

enum sync { FENCE, GROUPS, LOCKS, LOCKS_AT_ONCE, LOCK_ALL, SYNCS };

static struct access accesses[MOST_ACCESSES];
static int access_count;
static MPI_Group world_group;
static long accesses_done;

static MPI_Aint random_size(void)
{
    static const long most[] = {64, 4096, 4096, 300 << 10, LARGEST};
    return below(8) == 0 ? 0 : 8 + below(most[below(5)]);
}

static void open_part(struct shared_window *w)
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
        /* In two pieces that touch each other, so accesses cross from one to the other only where the standard lets them: never. */
        if (mine->size > 0)
            MPI_Win_attach(w->win, w->own, mine->size);
        MPI_Get_address(w->own, &mine->start);
        break;
    default:
        MPI_Win_allocate_shared(mine->size, mine->unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->own, &w->win);
    }
    memset(w->own, 0, mine->size);
}

static struct shared_window open_random_window(void)
{
    static const int units[] = {1, 1, 2, 4, 8, 16, 24};
    int flavors[] = {CREATED, ALLOCATED, DYNAMIC, SHARED};
    struct shared_window w = {.flavor = flavors[below(is_on_one_host() ? 4 : 3)]};
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

static void close_random_window(struct shared_window *w)
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

static const struct basic *random_basic(enum access_kind kind)
{
    for (;;) {
        const struct basic *basic = &basics[below(kind >= ACCUMULATE ? MIXED_AT : BASICS)];
        bool swaps = basic->kind <= U64 || basic->kind == BOOLEAN || basic->kind == BYTES || basic->kind == ADDRESS;
        if (kind != COMPARE_AND_SWAP || swaps)
            return basic;
    }
}

static long random_elements(void)
{
    switch (below(12)) {
    case 0:
        return 0;
    case 1: case 2: case 3:
        return 1;
    case 4: case 5: case 6:
        return 1 + below(16);
    case 7:
        return 1 + below(20000);
    case 8:
        return below(4) ? 1 + below(1000) : 1 + below(LARGEST);
    default:
        return 1 + below(300);
    }
}

/* A layout whose copies make up `elements`, and how many copies. */
static struct layout layout_of(const struct basic *basic, long elements, bool overlap, long *count)
{
    long n = elements == 0 ? 1 : elements > 5000 ? 1 : elements / divisor(elements);
    struct layout layout = random_layout(basic, n, overlap);
    *count = elements / n;
    return layout;
}

static void drop_access(struct access *access)
{
    free_layout(&access->at_target), free_layout(&access->at_origin), free_layout(&access->at_result);
}

/* Draws where the access lies; false if it has no place in the part. */
static bool find_place(struct access *access, const struct part *part)
{
    long low, high, step = access->at_target.basic->align;
    span(&access->at_target, access->counts[0], &low, &high);
    if (access->elements == 0)
        low = high = 0;
    while (step % part->unit != 0)
        step += access->at_target.basic->align;
    long first = low < 0 ? (-low + step - 1) / step : 0, last = part->size - high;
    if (last < 0 || last / step < first)
        return false;
    access->base = (first + below(last / step - first + 1)) * step;
    return true;
}

/* Draws an access and does it to what is known of all parts; the last one of the list. All ranks draw the same. */
static void add_access(struct shared_window *w, bool by_request, bool grouped)
{
    struct access access = {.kind = below(ACCESS_KINDS), .origin = (int)below(size_of_world), .target = (int)below(size_of_world), .seed = draw()};
    struct part *part = &w->parts[access.target];
    const struct basic *basic = random_basic(access.kind);
    bool single = access.kind >= FETCH_AND_OP, is_mine = access.origin == rank_of_world;
    access.by_request = by_request && !single && below(2);
    access.elements = single ? 1 : random_elements();
    do
        access.op = below(OPS);
    while (basic->kind != MIXED && (!is_defined(access.op, basic->kind) || (access.kind == ACCUMULATE && access.op == NO_OP)));
    const struct basic *other = basic->kind == MIXED ? &basics[MIXED_AT + below(2)] : basic;
    if (single) {
        for (int i = 0; i < 3; i++)
            access.counts[i] = 1;
        access.at_target = plain_layout(basic), access.at_origin = plain_layout(basic), access.at_result = plain_layout(basic);
    } else {
        /* MPI-5.0 §12.3: what is read may overlap, what is written may not. */
        access.at_target = layout_of(basic, access.elements, access.kind == GET, &access.counts[0]);
        access.at_origin = layout_of(other, access.elements, access.kind != GET, &access.counts[1]);
        access.at_result = access.kind == GET ? layout_of(other, access.elements, false, &access.counts[2]) : layout_of(basic, access.elements, false, &access.counts[2]);
    }
    if ((grouped && !w->pattern[access.origin * size_of_world + access.target]) || !find_place(&access, part) || !is_compatible(&access, part))
        return drop_access(&access);
    mark(&access, part, access.target == rank_of_world ? w->own : NULL);
    if (access.kind == COMPARE_AND_SWAP) {
        bool equal = below(2);
        memcpy(access.compared, part->bytes + access.base, basic->size);
        if (!equal)
            small_value(basic, access.seed + 1, access.compared);
    }
    if (is_mine && fetches(access.kind)) {
        long low, high;
        span(&access.at_result, access.counts[2], &low, &high);
        access.result = need(high - low), access.expected = need(high - low);
        memset(access.result, 0xA5, high - low), memset(access.expected, 0xA5, high - low);
    }
    simulate(&access, part);
    accesses[access_count++] = access;
}

/* The origin's memory, with the elements where the layout has them. */
static void fill_origin(struct access *access)
{
    long low, high;
    span(&access->at_origin, access->counts[1], &low, &high);
    access->origin_memory = need(high - low);
    memset(access->origin_memory, 0x5A, high - low);
    for (long i = 0; i < access->elements; i++) {
        unsigned char value[32];
        long place = element_at(&access->at_origin, i);
        given(access, place, value);
        copy_fields(access->at_origin.basic, access->origin_memory - low + place, access->at_origin.basic, value);
    }
    access->origin_memory -= low;
}

static void start(const struct shared_window *w, struct access *a)
{
    const struct part *part = &w->parts[a->target];
    MPI_Aint at = w->flavor == DYNAMIC ? part->start + a->base : a->base / part->unit;
    MPI_Op op = op_handles[a->op];
    MPI_Request *request = &a->request;
    MPI_Datatype types[] = {a->at_target.type, a->at_origin.type, a->at_result.type};
    int there = (int)a->counts[0], here = (int)a->counts[1], results = (int)a->counts[2];
    long low = 0, high;
    unsigned char *result = NULL;
    if (a->result) {
        span(&a->at_result, a->counts[2], &low, &high);
        result = a->result - low;
    }
    fill_origin(a);
    unsigned char *origin = a->origin_memory;
    bool r = a->by_request;
    accesses_done++;
    switch (a->kind) {
    case PUT:
        r ? MPI_Rput(origin, here, types[1], a->target, at, there, types[0], w->win, request) : MPI_Put(origin, here, types[1], a->target, at, there, types[0], w->win);
        break;
    case GET:
        r ? MPI_Rget(result, results, types[2], a->target, at, there, types[0], w->win, request) : MPI_Get(result, results, types[2], a->target, at, there, types[0], w->win);
        break;
    case ACCUMULATE:
        r ? MPI_Raccumulate(origin, here, types[1], a->target, at, there, types[0], op, w->win, request)
          : MPI_Accumulate(origin, here, types[1], a->target, at, there, types[0], op, w->win);
        break;
    case GET_ACCUMULATE:
        r ? MPI_Rget_accumulate(origin, here, types[1], result, results, types[2], a->target, at, there, types[0], op, w->win, request)
          : MPI_Get_accumulate(origin, here, types[1], result, results, types[2], a->target, at, there, types[0], op, w->win);
        break;
    case FETCH_AND_OP:
        MPI_Fetch_and_op(origin, result, types[0], a->target, at, op, w->win);
        break;
    default:
        MPI_Compare_and_swap(origin, a->compared, result, types[0], a->target, at, w->win);
    }
}

static void check_result(struct access *a)
{
    long low, high;
    if (!a->result)
        return;
    span(&a->at_result, a->counts[2], &low, &high);
    if (is_long_double(a->at_result.basic))
        for (long i = 0; i < a->elements; i++) {
            long nothing = element_at(&a->at_result, i) - low + F80_BYTES;
            memcpy(a->expected + nothing, a->result + nothing, 16 - F80_BYTES);
        }
    for (long byte = 0; byte < high - low; byte++)
        CHECK(a->result[byte] == a->expected[byte], "MPI-5.0 §12.3", "access of kind %d, op %d, %ld of %s at %d: byte %ld of the result is %02x, expected %02x", a->kind, a->op,
              a->elements, a->at_target.basic->name, a->target, byte, a->result[byte], a->expected[byte]);
    free(a->result), free(a->expected);
    a->result = NULL;
}

static void finish_request(struct access *a)
{
    if (!a->by_request || a->origin != rank_of_world)
        return;
    MPI_Wait(&a->request, MPI_STATUS_IGNORE);
    /* Local completion: a result is there before any flush (MPI-5.0 §12.3.5). */
    check_result(a);
}

static void finish_accesses(void)
{
    for (int i = 0; i < access_count; i++) {
        struct access *a = &accesses[i];
        if (a->origin == rank_of_world) {
            long low, high;
            check_result(a);
            span(&a->at_origin, a->counts[1], &low, &high);
            free(a->origin_memory + low);
        }
        drop_access(a);
    }
    access_count = 0;
}

/* This rank's accesses to one target, or to all. */
static void start_accesses(const struct shared_window *w, int target)
{
    for (int i = 0; i < access_count; i++)
        if (accesses[i].origin == rank_of_world && (target < 0 || accesses[i].target == target))
            start(w, &accesses[i]);
}

static void finish_requests(int target)
{
    for (int i = 0; i < access_count; i++)
        if (target < 0 || accesses[i].target == target)
            finish_request(&accesses[i]);
}

static void fence_phase(struct shared_window *w)
{
    MPI_Win_fence(below(2) ? MPI_MODE_NOPRECEDE : 0, w->win);
    start_accesses(w, -1);
    MPI_Win_fence(below(2) ? MPI_MODE_NOSUCCEED : 0, w->win);
}

/* The ranks for which the pattern has this rank as origin, or as target. */
static MPI_Group group_of(const struct shared_window *w, bool targets)
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

static void group_phase(struct shared_window *w)
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

/* One of the ways to complete all accesses to a target, at the target. `lasts`: the epoch goes on. */
static void complete_at(struct shared_window *w, int target, int how)
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

static void locks_phase(struct shared_window *w)
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

static void locks_at_once_phase(struct shared_window *w)
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
static void lock_all_phase(struct shared_window *w)
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

static void check_own_part(const struct shared_window *w, int round, enum sync sync)
{
    const struct part *mine = &w->parts[rank_of_world];
    long byte = first_difference(mine, w->own);
    CHECK(byte < 0, "MPI-5.0 §12.7", "round %d, synchronisation %d, window of flavor %s: byte %ld of %ld is %02x, expected %02x", round, sync, flavor_names[w->flavor], byte,
          (long)mine->size, byte < 0 ? 0 : w->own[byte], byte < 0 ? 0 : mine->bytes[byte]);
    for (int rank = 0; rank < size_of_world; rank++)
        memset(w->parts[rank].use, 0, w->parts[rank].size * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one_phase(struct shared_window *w, int round, enum sync sync)
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

static void one_round(struct shared_window *w, int round)
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
    struct shared_window windows[WINDOWS];
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
    CHECK(accesses_done > 0 || rounds < 10, "this program's own");
    MPI_Group_free(&world_group);
    free_basics();
    return check_finish();
}
