/* Messages between different type maps of one signature: MPI-5.0 §3.3.1 compares signatures only. */
#include "check.h"

enum { MAPS = 5, ITEMS = 24, SPAN = 6 * ITEMS };

/* Five ways to name 24 int. */
static const struct map {
    int count;
    int levels[2][3]; /* vector(count, length, stride), applied to int, then to the result; 0: none */
} maps[MAPS] = {
    { 24, { { 0 }, { 0 } } },
    { 1, { { 24, 1, 2 }, { 0 } } },
    { 6, { { 2, 2, 3 }, { 0 } } },
    { 2, { { 3, 1, 2 }, { 2, 2, 3 } } },
    { 4, { { 3, 2, 2 }, { 0 } } },
};

static MPI_Datatype create(const struct map *map)
{
    MPI_Datatype type = MPI_INT, next;
    for (int level = 0; level < 2 && map->levels[level][0]; level++) {
        const int *v = map->levels[level];
        MPI_Type_vector(v[0], v[1], v[2], type, &next);
        if (type != MPI_INT)
            MPI_Type_free(&type);
        type = next;
    }
    if (type != MPI_INT)
        MPI_Type_commit(&type);
    return type;
}

/* Where the data lies: sent as the map, received as plain int. Returns through `places` the int offsets. */
static void find_places(const struct map *map, MPI_Datatype type, int *places)
{
    int marked[SPAN];
    for (int i = 0; i < SPAN; i++)
        marked[i] = i;
    MPI_Sendrecv(marked, map->count, type, 0, 0, places, ITEMS, MPI_INT, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "signatures");
    for (int from = 0; from < MAPS; from++)
        for (int to = 0; to < MAPS; to++) {
            MPI_Datatype send_type = create(&maps[from]), receive_type = create(&maps[to]);
            int out[SPAN], in[SPAN], out_places[ITEMS], in_places[ITEMS];
            MPI_Status status;
            find_places(&maps[from], send_type, out_places);
            find_places(&maps[to], receive_type, in_places);
            for (int i = 0; i < SPAN; i++)
                out[i] = in[i] = -1;
            for (int k = 0; k < ITEMS; k++)
                out[out_places[k]] = 100 * k;
            MPI_Sendrecv(out, maps[from].count, send_type, right_neighbour(), 1, in, maps[to].count,
                         receive_type, left_neighbour(), 1, MPI_COMM_WORLD, &status);
            CHECK_EQUAL(status_count(&status, receive_type), maps[to].count, "MPI-5.0 §3.2.5");
            for (int k = 0; k < ITEMS; k++) {
                CHECK_EQUAL(in[in_places[k]], 100 * k, "MPI-5.0 §3.3.1");
                in[in_places[k]] = -1;
            }
            for (int i = 0; i < SPAN; i++)
                CHECK_EQUAL(in[i], -1, "MPI-5.0 §3.3.1");
            if (send_type != MPI_INT)
                MPI_Type_free(&send_type);
            if (receive_type != MPI_INT)
                MPI_Type_free(&receive_type);
        }
    return check_finish();
}
