/* What every rank's part of a window holds after a random phase of accesses, as each rank works it out by itself. */
#ifndef WEFT_TESTS_ORACLE_H
#define WEFT_TESTS_ORACLE_H

#include "operations.h"

/* A rank's part of a window. */
struct part {
    MPI_Aint size, start; /* start: what a displacement of 0 is, in bytes; an address in a dynamic window */
    int unit;
    unsigned char *bytes;
    bool *known;  /* whether the byte is told by the standard: holes of types that computed are not */
    int *use;     /* what the phase does with the byte so far */
};

enum access_kind { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, ACCESS_KINDS };

struct access {
    enum access_kind kind;
    enum op op;
    int origin, target;
    bool by_request;
    long elements, base; /* base: where the copies begin in the target's part, in bytes */
    long counts[3];      /* copies of each layout */
    struct layout at_target, at_origin, at_result;
    uint64_t seed;
    /* On the origin alone: its memory, and what is to be in the result afterwards. */
    unsigned char *origin_memory, *result, *expected;
    unsigned char compared[16];
    MPI_Request request;
};

enum { UNUSED, READ, WRITTEN, UPDATED };

static inline bool fetches(enum access_kind kind) { return kind >= GET_ACCUMULATE || kind == GET; }

/* What a phase may do at once with an element (MPI-5.0 §12.7): all may read it, one may write it; updates of one type may meet
 * if their operation is one whose order does not matter, or if they come from one origin (§12.7.1). */
static inline int use_of(const struct access *access, long place)
{
    const struct basic *basic = access->at_target.basic;
    if (access->kind == GET)
        return READ;
    if (access->kind == PUT)
        return WRITTEN;
    int phase = (int)(place % basic->size), type = (int)(basic - basics);
    bool alone = access->kind != ACCUMULATE || !is_orderless(access->op, basic->kind);
    int who = alone ? 100 + access->origin : (int)access->op;
    return UPDATED + (who * 64 + type) * 64 + phase;
}

/* Whether the whole access goes with what the phase does already. */
static inline bool is_compatible(const struct access *access, const struct part *part)
{
    for (long i = 0; i < access->elements; i++) {
        long place = access->base + element_at(&access->at_target, i);
        int use = use_of(access, place);
        for (long byte = place; byte < place + access->at_target.basic->size; byte++)
            if ((part->use[byte] != UNUSED && (part->use[byte] != use || use == WRITTEN)) || (use == READ && !part->known[byte]))
                return false;
    }
    return true;
}

/* Gives an element that is to be updated a value that the operation works with; at its owner the memory too. */
static inline void prepare(struct part *part, const struct basic *basic, long place, uint64_t seed, unsigned char *own)
{
    unsigned char value[32];
    small_value(basic, seed, value);
    for (int f = 0; f < basic->fields; f++) {
        long at = basic->field[f].at, bytes = basic->field[f].bytes;
        memcpy(part->bytes + place + at, value + at, bytes);
        memset(part->known + place + at, true, bytes);
        if (own)
            memcpy(own + place + at, value + at, bytes);
    }
}

/* Marks what an access uses. `own` is the part's memory where this rank has it. */
static inline void mark(const struct access *access, struct part *part, unsigned char *own)
{
    const struct basic *basic = access->at_target.basic;
    for (long i = 0; i < access->elements; i++) {
        long place = access->base + element_at(&access->at_target, i);
        if (access->kind >= ACCUMULATE && part->use[place] == UNUSED)
            prepare(part, basic, place, access->seed * 3 + (uint64_t)i, own);
        for (long byte = place; byte < place + basic->size; byte++)
            part->use[byte] = use_of(access, place);
    }
}

/* What lies at a place of the origin's memory. A type that has an element twice gives it twice. */
static inline void given(const struct access *access, long place, void *to)
{
    small_value(access->at_origin.basic, access->seed * 31 + (uint64_t)place * 0x9E3779B9u, to);
}

/* Of a long double 6 bytes of 16 are nothing, and whoever writes it may write them. */
static inline bool is_long_double(const struct basic *basic) { return basic->kind == F80 || basic->kind == PAIR_F80; }

static inline void copy_fields(const struct basic *to_basic, unsigned char *to, const struct basic *from_basic, const unsigned char *from)
{
    for (int f = 0; f < to_basic->fields; f++)
        memcpy(to + to_basic->field[f].at, from + from_basic->field[f].at, to_basic->field[f].bytes);
}

/* Does the access to the part as it is known, and to the result that the origin expects. */
static inline void simulate(struct access *access, struct part *part)
{
    const struct basic *basic = access->at_target.basic;
    long low = 0, high;
    if (access->expected)
        span(&access->at_result, access->counts[2], &low, &high);
    for (long i = 0; i < access->elements; i++) {
        long place = access->base + element_at(&access->at_target, i);
        unsigned char *target = part->bytes + place, value[32];
        if (access->expected)
            copy_fields(access->at_result.basic, access->expected - low + element_at(&access->at_result, i), basic, target);
        if (access->kind == GET)
            continue;
        given(access, element_at(&access->at_origin, i), value);
        if (access->kind == PUT) {
            copy_fields(basic, target, access->at_origin.basic, value);
            for (int f = 0; f < basic->fields; f++)
                memset(part->known + place + basic->field[f].at, true, basic->field[f].bytes);
        } else if (access->kind == COMPARE_AND_SWAP) {
            if (memcmp(target, access->compared, basic->size) == 0)
                memcpy(target, value, basic->size);
        } else {
            apply(access->op, basic, target, value);
        }
        if (is_long_double(basic))
            memset(part->known + place + F80_BYTES, false, 16 - F80_BYTES);
    }
}

/* The place of the first byte that is not as it should be, or -1. */
static inline long first_difference(const struct part *part, const unsigned char *found)
{
    for (long byte = 0; byte < part->size; byte++)
        if (part->known[byte] && part->bytes[byte] != found[byte])
            return byte;
    return -1;
}

#endif
