/* Every constructor but darray, nested at random, in both forms: size, bounds, messages to contiguous data and from
 * it, messages between two layouts, packing.
 *
 * MPICH 5.0.2 lets data outweigh set bounds in MPI_Type_create_struct, against MPI-5.0 §5.1.7. */
#include "layouts.h"

enum { ROUNDS = 200 };

static int spread[MOST_INTS], other[MOST_INTS], dense[5 * MOST_ENTRIES], packed[5 * MOST_ENTRIES];

static void inquire(const struct layout *layout)
{
    int size = -1;
    MPI_Aint lower = -1, extent = -1;
    MPI_Count large = -1, large_lower = -1, large_extent = -1;
    long low = 0, high = 0;
    const struct typemap *map = &layout->map;
    MPI_Type_size(layout->type, &size);
    MPI_Type_size_c(layout->type, &large);
    CHECK_EQUAL(size, map->entries * (int)sizeof(int), "MPI-5.0 §5.1.5");
    CHECK_EQUAL(large, size, "MPI-5.0 §5.1.5");
    if (map->entries == 0)
        return;
    MPI_Type_get_extent(layout->type, &lower, &extent);
    CHECK_EQUAL(lower, map->lower, "MPI-5.0 §5.1.7");
    CHECK_EQUAL(extent, typemap_extent(map), "MPI-5.0 §5.1.7");
    MPI_Type_get_extent_c(layout->type, &large_lower, &large_extent);
    CHECK(large_lower == lower && large_extent == extent, "MPI-5.0 §5.1.7");
    low = high = map->displacements[0];
    for (int k = 0; k < map->entries; k++) {
        low = map->displacements[k] < low ? map->displacements[k] : low;
        high = map->displacements[k] > high ? map->displacements[k] : high;
    }
    MPI_Type_get_true_extent(layout->type, &lower, &extent);
    CHECK(lower == low && extent == high + 4 - low, "MPI-5.0 §5.1.8");
    MPI_Type_get_true_extent_c(layout->type, &large_lower, &large_extent);
    CHECK(large_lower == lower && large_extent == extent, "MPI-5.0 §5.1.8");
}

/* Layout to contiguous, then contiguous to layout. */
static void transfer(const struct layout *layout, int elements)
{
    const struct typemap *map = &layout->map;
    int data = elements * map->entries;
    MPI_Status status;
    fill_spread(spread, map, elements, 100);
    MPI_Sendrecv(spread + MOST_INTS / 2, elements, layout->type, right_neighbour(), 1, dense, data, MPI_INT,
                 left_neighbour(), 1, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, MPI_INT), data, "MPI-5.0 §3.2.5");
    for (int i = 0; i < data; i++)
        CHECK_EQUAL(dense[i], 100 + i, "MPI-5.0 §5.1.11: order");
    fill_untouched(spread);
    MPI_Sendrecv(dense, data, MPI_INT, right_neighbour(), 2, spread + MOST_INTS / 2, elements, layout->type,
                 left_neighbour(), 2, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status_count(&status, layout->type), map->entries ? elements : 0, "MPI-5.0 §3.2.5");
    check_spread(spread, map, elements, data, 100);
}

/* One layout to another of as many elements, or more. */
static void between(const struct layout *from, int elements, const struct layout *to)
{
    int data = elements * from->map.entries, count = -1;
    int room = to->map.entries ? (data + to->map.entries - 1) / to->map.entries : 0;
    MPI_Status status;
    if (to->map.entries == 0 || !fits(&to->map, room))
        return;
    fill_spread(spread, &from->map, elements, 7);
    fill_untouched(other);
    MPI_Sendrecv(spread + MOST_INTS / 2, elements, from->type, right_neighbour(), 3, other + MOST_INTS / 2, room,
                 to->type, left_neighbour(), 3, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, to->type, &count);
    CHECK_EQUAL(count, data, "MPI-5.0 §5.1.12");
    int whole = data % to->map.entries == 0 ? data / to->map.entries : MPI_UNDEFINED;
    CHECK_EQUAL(status_count(&status, to->type), whole, "MPI-5.0 §3.2.5");
    check_spread(other, &to->map, room, data, 7);
}

static void pack(const struct layout *layout, int elements)
{
    int data = elements * layout->map.entries, size = -1, position = 0;
    MPI_Pack_size(elements, layout->type, MPI_COMM_WORLD, &size);
    CHECK(size >= data * (int)sizeof(int) && size <= (int)sizeof packed, "MPI-5.0 §5.2");
    fill_spread(spread, &layout->map, elements, 31);
    MPI_Pack(spread + MOST_INTS / 2, elements, layout->type, packed, size, &position, MPI_COMM_WORLD);
    CHECK(position <= size, "MPI-5.0 §5.2");
    int end = position;
    position = 0;
    fill_untouched(spread);
    MPI_Unpack(packed, end, &position, spread + MOST_INTS / 2, elements, layout->type, MPI_COMM_WORLD);
    CHECK_EQUAL(position, end, "MPI-5.0 §5.2");
    check_spread(spread, &layout->map, elements, data, 31);
}

int main(int argc, char **argv)
{
    static struct layout layout, second;
    check_start(&argc, &argv, "constructors");
    for (int round = 0; round < ROUNDS; round++) {
        draw_nested(&layout);
        draw_nested(&second);
        int elements = draw(4);
        if (layout.map.entries * elements <= MOST_ENTRIES && fits(&layout.map, elements)) {
            inquire(&layout);
            transfer(&layout, elements);
            between(&layout, elements, &second);
            pack(&layout, elements);
        }
        MPI_Type_free(&layout.type);
        MPI_Type_free(&second.type);
        CHECK(layout.type == MPI_DATATYPE_NULL, "MPI-5.0 §5.1.9");
    }
    return check_finish();
}
