/* MPI_Type_get_envelope and MPI_Type_get_contents of every constructor, in both forms: MPI-5.0 §5.1.13.
 *
 * MPI_TYPE_GET_ENVELOPE of a type made with large counts is an error only its large-count form avoids. */
#include "check.h"

static MPI_Datatype row; /* contiguous(3, MPI_DOUBLE): the derived type that others are made of */

struct expected {
    int combiner, datatypes;
    int integers, addresses, counts;
    long long list[16]; /* integers, then addresses, then counts */
};

static void check_contents(MPI_Datatype type, const struct expected *want, MPI_Datatype old)
{
    int integers[16];
    MPI_Aint addresses[16];
    MPI_Count counts[16], ni, na, nc, nd;
    MPI_Datatype types[4];
    int combiner = -1, at = 0;
    MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner);
    CHECK_EQUAL(combiner, want->combiner, "MPI-5.0 §5.1.13");
    CHECK(ni == want->integers && na == want->addresses && nc == want->counts && nd == want->datatypes,
          "MPI-5.0 §5.1.13", "combiner %d: %lld %lld %lld %lld", combiner, (long long)ni, (long long)na,
          (long long)nc, (long long)nd);
    MPI_Type_get_contents_c(type, ni, na, nc, nd, integers, addresses, counts, types);
    for (int i = 0; i < ni; i++)
        CHECK_EQUAL(integers[i], want->list[at++], "MPI-5.0 §5.1.13");
    for (int i = 0; i < na; i++)
        CHECK_EQUAL(addresses[i], want->list[at++], "MPI-5.0 §5.1.13");
    for (int i = 0; i < nc; i++)
        CHECK_EQUAL(counts[i], want->list[at++], "MPI-5.0 §5.1.13");
    for (int i = 0; i < nd; i++) {
        MPI_Aint lower, extent, old_extent;
        int size, old_size, named_ni, named_na, named_nd, named;
        MPI_Type_get_envelope(types[i], &named_ni, &named_na, &named_nd, &named);
        if (old == MPI_INT) {
            CHECK(types[i] == MPI_INT, "MPI-5.0 §5.1.13: predefined types come back as they are");
            continue;
        }
        CHECK_EQUAL(named, MPI_COMBINER_CONTIGUOUS, "MPI-5.0 §5.1.13");
        MPI_Type_size(types[i], &size);
        MPI_Type_size(old, &old_size);
        MPI_Type_get_extent(types[i], &lower, &extent);
        MPI_Type_get_extent(old, &lower, &old_extent);
        CHECK(size == old_size && extent == old_extent, "MPI-5.0 §5.1.13: equal to the old one");
        MPI_Type_free(&types[i]);
    }
    if (want->counts == 0) {
        int n[3];
        MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
        CHECK(n[0] == ni && n[1] == na && n[2] == nd && combiner == want->combiner, "MPI-5.0 §5.1.13");
        MPI_Type_get_contents(type, n[0], n[1], n[2], integers, addresses, types);
        at = 0;
        for (int i = 0; i < ni; i++)
            CHECK_EQUAL(integers[i], want->list[at++], "MPI-5.0 §5.1.13");
        for (int i = 0; i < na; i++)
            CHECK_EQUAL(addresses[i], want->list[at++], "MPI-5.0 §5.1.13");
        for (int i = 0; i < nd; i++)
            if (old != MPI_INT)
                MPI_Type_free(&types[i]);
    }
    MPI_Type_free(&type);
}

#define EXPECTED(...) (&(struct expected){ __VA_ARGS__ })

static void blocks(MPI_Datatype old)
{
    MPI_Datatype type;
    int lengths[2] = { 2, 1 }, starts[2] = { 5, -1 };
    MPI_Aint places[2] = { 80, -16 };
    MPI_Count large_lengths[2] = { 2, 1 }, large_starts[2] = { 5, -1 }, large_places[2] = { 80, -16 };
    MPI_Type_indexed(2, lengths, starts, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_INDEXED, 1, 5, 0, 0, { 2, 2, 1, 5, -1 }), old);
    MPI_Type_indexed_c(2, large_lengths, large_starts, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_INDEXED, 1, 0, 0, 5, { 2, 2, 1, 5, -1 }), old);
    MPI_Type_create_hindexed(2, lengths, places, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_HINDEXED, 1, 3, 2, 0, { 2, 2, 1, 80, -16 }), old);
    MPI_Type_create_hindexed_c(2, large_lengths, large_places, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_HINDEXED, 1, 0, 0, 5, { 2, 2, 1, 80, -16 }), old);
    MPI_Type_create_indexed_block(2, 3, starts, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_INDEXED_BLOCK, 1, 4, 0, 0, { 2, 3, 5, -1 }), old);
    MPI_Type_create_indexed_block_c(2, 3, large_starts, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_INDEXED_BLOCK, 1, 0, 0, 4, { 2, 3, 5, -1 }), old);
    MPI_Type_create_hindexed_block(2, 3, places, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_HINDEXED_BLOCK, 1, 2, 2, 0, { 2, 3, 80, -16 }), old);
    MPI_Type_create_hindexed_block_c(2, 3, large_places, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_HINDEXED_BLOCK, 1, 0, 0, 4, { 2, 3, 80, -16 }), old);
}

static void structures(MPI_Datatype old)
{
    MPI_Datatype type, types[2] = { old, old };
    int lengths[2] = { 2, 1 };
    MPI_Aint places[2] = { 80, -16 };
    MPI_Count large_lengths[2] = { 2, 1 }, large_places[2] = { 80, -16 };
    MPI_Type_create_struct(2, lengths, places, types, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_STRUCT, 2, 3, 2, 0, { 2, 2, 1, 80, -16 }), old);
    MPI_Type_create_struct_c(2, large_lengths, large_places, types, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_STRUCT, 2, 0, 0, 5, { 2, 2, 1, 80, -16 }), old);
}

static void regular(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_dup(old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_DUP, 1, 0, 0, 0, { 0 }), old);
    MPI_Type_contiguous(4, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_CONTIGUOUS, 1, 1, 0, 0, { 4 }), old);
    MPI_Type_contiguous_c(4, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1, { 4 }), old);
    MPI_Type_vector(4, 2, -3, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_VECTOR, 1, 3, 0, 0, { 4, 2, -3 }), old);
    MPI_Type_vector_c(4, 2, -3, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_VECTOR, 1, 0, 0, 3, { 4, 2, -3 }), old);
    MPI_Type_create_hvector(4, 2, -300, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_HVECTOR, 1, 2, 1, 0, { 4, 2, -300 }), old);
    MPI_Type_create_hvector_c(4, 2, -300, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_HVECTOR, 1, 0, 0, 3, { 4, 2, -300 }), old);
    MPI_Type_create_resized(old, -8, 96, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_RESIZED, 1, 0, 2, 0, { -8, 96 }), old);
    MPI_Type_create_resized_c(old, -8, 96, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_RESIZED, 1, 0, 0, 2, { -8, 96 }), old);
}

static void arrays(MPI_Datatype old)
{
    MPI_Datatype type;
    int sizes[2] = { 6, 7 }, parts[2] = { 2, 3 }, starts[2] = { 1, 4 };
    MPI_Count large_sizes[2] = { 6, 7 }, large_parts[2] = { 2, 3 }, large_starts[2] = { 1, 4 };
    int how[2] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK }, grid[2] = { 2, 3 };
    int blocks[2] = { 2, MPI_DISTRIBUTE_DFLT_DARG };
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_SUBARRAY, 1, 8, 0, 0, { 2, 6, 7, 2, 3, 1, 4, MPI_ORDER_FORTRAN }),
                   old);
    MPI_Type_create_subarray_c(2, large_sizes, large_parts, large_starts, MPI_ORDER_C, old, &type);
    check_contents(type, EXPECTED(MPI_COMBINER_SUBARRAY, 1, 2, 0, 6, { 2, MPI_ORDER_C, 6, 7, 2, 3, 1, 4 }), old);
    MPI_Type_create_darray(6, 4, 2, sizes, how, blocks, grid, MPI_ORDER_C, old, &type);
    check_contents(type,
                   EXPECTED(MPI_COMBINER_DARRAY, 1, 12, 0, 0,
                            { 6, 4, 2, 6, 7, how[0], how[1], 2, MPI_DISTRIBUTE_DFLT_DARG, 2, 3, MPI_ORDER_C }),
                   old);
    MPI_Type_create_darray_c(6, 4, 2, large_sizes, how, blocks, grid, MPI_ORDER_C, old, &type);
    check_contents(type,
                   EXPECTED(MPI_COMBINER_DARRAY, 1, 10, 0, 2,
                            { 6, 4, 2, how[0], how[1], 2, MPI_DISTRIBUTE_DFLT_DARG, 2, 3, MPI_ORDER_C, 6, 7 }),
                   old);
}

static void named(void)
{
    int n[3] = { -1, -1, -1 }, combiner = -1;
    MPI_Type_get_envelope(MPI_DOUBLE_INT, &n[0], &n[1], &n[2], &combiner);
    CHECK(n[0] == 0 && n[1] == 0 && n[2] == 0 && combiner == MPI_COMBINER_NAMED, "MPI-5.0 §5.1.13");
}

/* What comes back goes on when the type is freed, and makes an equal one. */
static void rebuild(void)
{
    int lengths[2] = { 1, 2 }, size = -1, n[2];
    MPI_Aint places[2] = { 0, 32 }, lower, extent;
    MPI_Datatype types[2] = { row, MPI_CHAR }, type, parts[2], again;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    int got[3];
    MPI_Aint got_places[2];
    MPI_Type_get_contents(type, 3, 2, 2, got, got_places, parts);
    MPI_Type_free(&type);
    MPI_Type_create_struct(got[0], got + 1, got_places, parts, &again);
    MPI_Type_size(again, &size);
    MPI_Type_get_extent(again, &lower, &extent);
    CHECK(size == 26 && lower == 0 && extent == 40, "MPI-5.0 §5.1.13");
    MPI_Type_get_contents(parts[0], 1, 0, 1, n, NULL, types);
    CHECK(n[0] == 3 && types[0] == MPI_DOUBLE, "MPI-5.0 §5.1.13");
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&again);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "envelopes");
    MPI_Type_contiguous(3, MPI_DOUBLE, &row);
    const MPI_Datatype olds[2] = { MPI_INT, row };
    for (int i = 0; i < 2; i++) {
        regular(olds[i]);
        blocks(olds[i]);
        structures(olds[i]);
        arrays(olds[i]);
    }
    named();
    rebuild();
    MPI_Type_free(&row);
    return check_finish();
}
