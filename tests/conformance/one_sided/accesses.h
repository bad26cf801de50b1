/* The accesses of a phase: each is drawn, worked out, called and looked at. */
#ifndef WEFT_TESTS_ACCESSES_H
#define WEFT_TESTS_ACCESSES_H

#include "oracle.h"
#include "windows.h"

enum { LARGEST = 3 << 20, MOST_ACCESSES = 64 };

struct drawn_window {
    MPI_Win win;
    int flavor;
    unsigned char *own; /* this process's memory */
    struct part *parts;
    char *pattern; /* that of who reaches whom in an epoch of groups, by origin and target */
};

static struct access accesses[MOST_ACCESSES];
static int access_count;
static long accesses_done;

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
static void add_access(struct drawn_window *w, bool by_request, bool grouped)
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

static void start(const struct drawn_window *w, struct access *a)
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
static void start_accesses(const struct drawn_window *w, int target)
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

#endif
