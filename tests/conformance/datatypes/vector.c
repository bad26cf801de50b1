/* MPI_Type_contiguous and MPI_Type_vector, nested at random, with positive, negative and no strides and zero
 * counts: size, bounds, what is sent and where it lands, against the written-out type map. */
#include "typemap.h"

enum { ROUNDS = 150, MOST_INTS = 32768, UNTOUCHED = -77 };

static uint32_t state = 2024;
static int draw(int below)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 16) % (unsigned)below);
}

/* A random type of one to three levels; blocks never overlap, so the type can receive. */
static MPI_Datatype random_type(struct typemap *map)
{
    static struct typemap base;
    MPI_Datatype type = MPI_INT, next;
    int levels = 1 + draw(3);
    typemap_of_int(map);
    for (int level = 0; level < levels; level++) {
        base = *map;
        int count = draw(5), length = draw(4), stride = length + draw(3);
        if (draw(2))
            stride = -stride;
        if (draw(3) == 0) {
            MPI_Type_contiguous(count, type, &next);
            typemap_vector(map, &base, count, 1, 1);
        } else if (draw(2)) {
            MPI_Type_vector(count, length, stride, type, &next);
            typemap_vector(map, &base, count, length, stride);
        } else {
            MPI_Type_vector_c(count, length, stride, type, &next);
            typemap_vector(map, &base, count, length, stride);
        }
        if (type != MPI_INT)
            MPI_Type_free(&type);
        type = next;
    }
    MPI_Type_commit(&type);
    return type;
}

static void inquire(MPI_Datatype type, const struct typemap *map)
{
    int size = -1;
    MPI_Aint lower = -1, extent = -1;
    MPI_Type_size(type, &size);
    CHECK_EQUAL(size, map->entries * (int)sizeof(int), "MPI-5.0 §5.1.5");
    MPI_Type_get_extent(type, &lower, &extent);
    /* The standard defines bounds by minimum and maximum over the entries: without any there are none. */
    if (map->entries)
        CHECK(lower == map->lower && extent == typemap_extent(map), "MPI-5.0 §5.1.7");
}

/* The int that the k-th entry of the e-th element names, counted from the middle of the buffer. */
static long place(const struct typemap *map, int element, int k)
{
    return MOST_INTS / 2 + (element * typemap_extent(map) + map->displacements[k]) / (long)sizeof(int);
}

/* Strided to contiguous, then contiguous to strided. */
static void transfer(MPI_Datatype type, const struct typemap *map, int elements, int *spread, int *dense)
{
    int data = elements * map->entries;
    MPI_Status status;
    for (int i = 0; i < MOST_INTS; i++)
        spread[i] = i;
    MPI_Sendrecv(spread + MOST_INTS / 2, elements, type, right_neighbour(), 1, dense, data, MPI_INT,
                 left_neighbour(), 1, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, MPI_INT), data, "MPI-5.0 §3.2.5");
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < map->entries; k++)
            CHECK_EQUAL(dense[e * map->entries + k], place(map, e, k), "MPI-5.0 §5.1.11: order");
    for (int i = 0; i < MOST_INTS; i++)
        spread[i] = UNTOUCHED;
    for (int i = 0; i < data; i++)
        dense[i] = 5 * i;
    MPI_Sendrecv(dense, data, MPI_INT, right_neighbour(), 2, spread + MOST_INTS / 2, elements, type,
                 left_neighbour(), 2, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, type), map->entries ? elements : 0, "MPI-5.0 §3.2.5");
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < map->entries; k++) {
            CHECK_EQUAL(spread[place(map, e, k)], 5 * (e * map->entries + k), "MPI-5.0 §5.1.11");
            spread[place(map, e, k)] = UNTOUCHED;
        }
    for (int i = 0; i < MOST_INTS; i++)
        CHECK(spread[i] == UNTOUCHED, "MPI-5.0 §5.1.11: nothing else is written", "at %d", i);
}

int main(int argc, char **argv)
{
    static struct typemap map;
    static int spread[MOST_INTS], dense[5 * MOST_ENTRIES];
    check_start(&argc, &argv, "vector");
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype type = random_type(&map);
        int elements = draw(5);
        inquire(type, &map);
        transfer(type, &map, elements, spread, dense);
        MPI_Type_free(&type);
        CHECK(type == MPI_DATATYPE_NULL, "MPI-5.0 §5.1.9");
    }
    return check_finish();
}
