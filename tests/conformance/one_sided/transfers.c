/* Put and get: MPI-5.0 §12.3.1, §12.3.2, in windows of every flavor, contiguous and strided on either side, to oneself and
 * to MPI_PROC_NULL, and with requests (§12.3.5). */
#include "windows.h"

enum { BYTES = 300000 };

/* Every process puts a pattern to the right and gets it back from there. */
static void whole(int flavor, size_t bytes)
{
    struct window w = open_window(flavor, BYTES);
    int to = right_neighbour(), from = left_neighbour();
    char *out = need(bytes), *back = need(bytes);
    fill_pattern(out, bytes, rank_of_world);
    memset(back, 1, bytes);
    MPI_Win_fence(0, w.win);
    CHECK_CLASS(MPI_Put(out, bytes, MPI_BYTE, to, at(&w, to, 0), bytes, MPI_BYTE, w.win), MPI_SUCCESS, "§12.3.1");
    MPI_Win_fence(0, w.win);
    CHECK(has_pattern(w.base, bytes, from), "§12.3.1", "%s, %zu bytes", flavor_names[flavor], bytes);
    for (MPI_Aint i = bytes; i < BYTES; i++)
        CHECK(w.base[i] == 0, "§12.3.1: nothing behind");
    MPI_Get(back, bytes, MPI_BYTE, to, at(&w, to, 0), bytes, MPI_BYTE, w.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    CHECK(has_pattern(back, bytes, rank_of_world), "§12.3.2", "%s, %zu bytes", flavor_names[flavor], bytes);
    free(out);
    free(back);
    close_window(&w);
}

/* Strided at the origin, at the target, at both: against the two type maps written out. */
static void strided(int flavor)
{
    enum { COLUMNS = 7, ROWS = 50 };
    struct window w = open_window(flavor, 64 + COLUMNS * ROWS * sizeof(int));
    MPI_Datatype column, triples;
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &triples);
    MPI_Type_commit(&triples);
    MPI_Type_commit(&column);
    int to = right_neighbour(), from = left_neighbour();
    int matrix[ROWS * COLUMNS], line[2 * ROWS], *part = (int *)(w.base + 64);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = 1000 * rank_of_world + i;
    MPI_Win_fence(0, w.win);
    /* Columns 2 and 3 of the matrix go to columns 1 and 2, column 5 to a line of its own at column 4. */
    MPI_Put(matrix + 2, 2, triples, to, at(&w, to, 64 + sizeof(int)), 2, triples, w.win);
    MPI_Put(matrix + 5, 1, column, to, at(&w, to, 64 + 4 * sizeof(int)), 1, column, w.win);
    MPI_Win_fence(0, w.win);
    for (int row = 0; row < ROWS; row++)
        for (int column_of = 0; column_of < COLUMNS; column_of++) {
            static const int source[COLUMNS] = {-1, 2, 3, -1, 5, -1, -1};
            int wanted = source[column_of] < 0 ? 0 : 1000 * from + row * COLUMNS + source[column_of];
            CHECK_EQUAL(part[row * COLUMNS + column_of], wanted, "§12.3.1");
        }
    /* Two columns into a line, and back with a line at the target. */
    MPI_Get(line, 2 * ROWS, MPI_INT, to, at(&w, to, 64 + sizeof(int)), 2, triples, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 2 * ROWS; i++)
        CHECK_EQUAL(line[i], 1000 * rank_of_world + i % ROWS * COLUMNS + 2 + i / ROWS, "§12.3.2");
    MPI_Put(matrix, 2, triples, to, at(&w, to, 64), 2 * ROWS, MPI_INT, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 2 * ROWS; i++)
        CHECK_EQUAL(part[i], 1000 * from + i % ROWS * COLUMNS + i / ROWS, "§12.3.1");
    memset(matrix, 0, sizeof matrix);
    MPI_Get(matrix, 2, triples, to, at(&w, to, 64), 2 * ROWS, MPI_INT, w.win);
    MPI_Win_fence(0, w.win);
    for (int row = 0; row < ROWS; row++)
        CHECK_EQUAL(matrix[row * COLUMNS + 1], 1000 * rank_of_world + row * COLUMNS + 1, "§12.3.2");
    MPI_Type_free(&column);
    MPI_Type_free(&triples);
    close_window(&w);
}

static void with_requests(int flavor)
{
    struct window w = open_window(flavor, BYTES);
    int to = right_neighbour();
    long value = rank_of_world + 1, back = -1, sum = 10, old = -1;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Win_lock_all(0, w.win);
    MPI_Rput(&value, 1, MPI_LONG, to, at(&w, to, 8), 1, MPI_LONG, w.win, requests);
    MPI_Wait(requests, statuses);
    CHECK(requests[0] == MPI_REQUEST_NULL && status_is_empty(statuses), "§12.3.5");
    MPI_Rget(&back, 1, MPI_LONG, to, at(&w, to, 8), 1, MPI_LONG, w.win, requests);
    MPI_Raccumulate(&sum, 1, MPI_LONG, to, at(&w, to, 16), 1, MPI_LONG, MPI_SUM, w.win, requests + 1);
    MPI_Rget_accumulate(&sum, 1, MPI_LONG, &old, 1, MPI_LONG, to, at(&w, to, 16), 1, MPI_LONG, MPI_SUM, w.win,
                        requests + 2);
    MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w.win, requests + 3);
    MPI_Waitall(4, requests, statuses);
    CHECK_EQUAL(back, rank_of_world + 1, "§12.3.5");
    CHECK_EQUAL(old, 10, "§12.3.5, §12.7.2: accumulates of one process are in order");
    MPI_Win_unlock_all(w.win);
    close_window(&w);
}

static void proc_null(void)
{
    struct window w = open_window(ALLOCATED, 64);
    int value = 5;
    MPI_Win_fence(0, w.win);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w.win), MPI_SUCCESS, "§12.3");
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 1 << 20, 1, MPI_INT, w.win), MPI_SUCCESS, "§12.3");
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w.win), MPI_SUCCESS, "§12.3");
    CHECK_CLASS(MPI_Fetch_and_op(&value, &value, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w.win), MPI_SUCCESS, "§12.3");
    MPI_Win_fence(0, w.win);
    CHECK_EQUAL(value, 5, "§12.3");
    close_window(&w);
}

/* Displacements count in the target's unit, whatever the origin's is (§12.3.1); sizes may differ, and be 0. */
static void units(void)
{
    int *part, unit = rank_of_world % 2 ? 4 : 8, to = right_neighbour();
    MPI_Win win;
    MPI_Aint size = rank_of_world % 3 ? 256 : 0;
    if (size_of_world < 3)
        size = 256;
    MPI_Win_allocate(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    int value = 70 + rank_of_world, empty = size_of_world >= 3 && to % 3 == 0;
    memset(part, 0, size);
    MPI_Win_fence(0, win);
    if (!empty)
        MPI_Put(&value, 1, MPI_INT, to, 3, 1, MPI_INT, win);
    else
        CHECK_CLASS(MPI_Put(&value, 0, MPI_INT, to, 0, 0, MPI_INT, win), MPI_SUCCESS, "§12.3.1: nothing fits anywhere");
    MPI_Win_fence(0, win);
    if (size)
        CHECK_EQUAL(part[3 * unit / 4], 70 + left_neighbour(), "§12.3.1");
    MPI_Win_free(&win);
}

/* The large-count forms. */
static void large_forms(void)
{
    struct window w = open_window(ALLOCATED, 64);
    int to = right_neighbour(), out = rank_of_world, back = -1;
    MPI_Win_fence(0, w.win);
    MPI_Put_c(&out, 1, MPI_INT, to, 0, 1, MPI_INT, w.win);
    MPI_Win_fence(0, w.win);
    MPI_Get_c(&back, 1, MPI_INT, to, 0, 1, MPI_INT, w.win);
    MPI_Win_fence(0, w.win);
    CHECK_EQUAL(back, rank_of_world, "§12.3");
    close_window(&w);
    if (!is_on_one_host())
        return;
    MPI_Aint unit, size;
    char *base, *part;
    MPI_Win win;
    MPI_Win_allocate_shared_c(100, (MPI_Aint)1 << 33, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_shared_query_c(win, to, &size, &unit, &part);
    CHECK(size == 100 && unit == (MPI_Aint)1 << 33 && part, "§12.2.3");
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "transfers");
    static const size_t lengths[] = {0, 1, 8, 4099, BYTES};
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (!has_flavor(flavor))
            continue;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            whole(flavor, lengths[i]);
        strided(flavor);
        with_requests(flavor);
    }
    proc_null();
    units();
    large_forms();
    return check_finish();
}
