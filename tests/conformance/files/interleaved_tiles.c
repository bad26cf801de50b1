/* File types whose copies lie among each other, as their extent is less than what they span, and, where a file is only read, types that
 * overlap: MPI-5.0 §14.3 has displacements grow within one copy, and forbids overlaps where the file may be written. */
#include "files.h"

enum { ROWS = 6, COLUMNS = 8, CELLS = ROWS * COLUMNS };

/* A column of a matrix of ints, as wide as an element: the next copy is the next column. */
static MPI_Datatype column_of(int columns)
{
    MPI_Datatype vector, column;
    MPI_Type_vector(ROWS, 1, columns, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Type_free(&vector);
    return column;
}

static int cell(int rank, int row, int column) { return rank * 1000 + row * COLUMNS + column; }

/* Each process writes a matrix of its own by columns, and its rows are in the file; `at_once` columns in a call. */
static void transposed(int at_once, int together)
{
    MPI_File file = open_scratch();
    MPI_Datatype column = column_of(COLUMNS);
    CHECK_CLASS(MPI_File_set_view(file, (MPI_Offset)rank_of_world * CELLS * sizeof(int), MPI_INT, column, "native", MPI_INFO_NULL),
                MPI_SUCCESS, "§14.3");
    int data[CELLS], back[CELLS], rows[CELLS];
    for (int i = 0; i < CELLS; i++)
        data[i] = cell(rank_of_world, i % ROWS, i / ROWS);
    for (int first = 0; first < COLUMNS; first += at_once) {
        int code = together ? MPI_File_write_all(file, data + first * ROWS, at_once * ROWS, MPI_INT, MPI_STATUS_IGNORE)
                            : MPI_File_write(file, data + first * ROWS, at_once * ROWS, MPI_INT, MPI_STATUS_IGNORE);
        CHECK_CLASS(code, MPI_SUCCESS, "§14.4");
    }
    settle_file(file);
    MPI_Offset end = -1;
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &end);
    /* Of the last process's file nothing lies behind its matrix: the first element there is the last one of the second column's copy of
     * the next ones. Others see the matrices behind theirs. */
    if (rank_of_world == size_of_world - 1)
        CHECK_EQUAL(end, COLUMNS * ROWS + ROWS - 1, "§14.1.1: the first element behind the end");
    MPI_Status status;
    CHECK_CLASS(together ? MPI_File_read_at_all(file, 0, back, CELLS, MPI_INT, &status)
                         : MPI_File_read_at(file, 0, back, CELLS, MPI_INT, &status),
                MPI_SUCCESS, "§14.4");
    CHECK_EQUAL(status_count(&status, MPI_INT), CELLS, "§14.4");
    CHECK(memcmp(back, data, sizeof data) == 0, "§14.4: what was written");
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file, rank_of_world * CELLS, rows, CELLS, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < CELLS; i++)
        CHECK_EQUAL(rows[i], cell(rank_of_world, i / COLUMNS, i % COLUMNS), "§14.3");
    MPI_Type_free(&column);
    close_file(file);
}

/* One copy of a type of pieces that processes have in turn, its extent, as a resized part has it, that of the part: what is written
 * together goes by two phases. */
static void one_copy(const char *phases)
{
    enum { PIECES = 500 };
    MPI_File file = open_scratch();
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", phases);
    MPI_Info_set(info, "romio_cb_read", phases);
    MPI_Datatype pieces, last, parts[2], type;
    MPI_Type_vector(PIECES, 1, size_of_world, MPI_INT, &pieces);
    MPI_Type_create_resized(MPI_INT, 0, sizeof(int), &last);
    parts[0] = pieces;
    parts[1] = last;
    MPI_Aint places[2] = {0, (MPI_Aint)PIECES * size_of_world * sizeof(int)};
    MPI_Type_create_struct(2, (int[]){1, 1}, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == places[1] && extent == sizeof(int), "§5.1.6", "the part's, which was given: %ld, %ld", (long)lower, (long)extent);
    CHECK_CLASS(MPI_File_set_view(file, rank_of_world * sizeof(int), MPI_INT, type, "native", info), MPI_SUCCESS, "§14.3");
    int data[PIECES + 1], back[PIECES + 1];
    for (int i = 0; i <= PIECES; i++)
        data[i] = i * size_of_world + rank_of_world;
    CHECK_CLASS(MPI_File_write_at_all(file, 0, data, PIECES + 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    settle_file(file);
    CHECK_CLASS(MPI_File_read_at_all(file, 1, back, PIECES, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    CHECK(memcmp(back, data + 1, PIECES * sizeof(int)) == 0, "§14.4");
    int count = (PIECES + 1) * size_of_world, *all = need(count * sizeof(int));
    CHECK_EQUAL(raw_bytes((unsigned char *)all, count * sizeof(int)), count * sizeof(int), "§14.4");
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(all[i], i, "§14.4");
    free(all);
    MPI_Type_free(&pieces);
    MPI_Type_free(&last);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

/* Overlapping: an error where the file may be written, bytes as they come where it is read. Going back is an error in any case. */
static void only_read(void)
{
    MPI_File file = open_scratch();
    MPI_Datatype type, back_and_forth;
    int lengths[3] = {2, 4, 4}, places[3] = {0, 6, 8};
    static const unsigned char wanted[10] = {0, 1, 6, 7, 8, 9, 8, 9, 10, 11};
    MPI_Type_indexed(3, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Type_indexed(2, lengths, (int[]){4, 0}, MPI_BYTE, &back_and_forth);
    MPI_Type_commit(&back_and_forth);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_ERR_IO, "§14.3: the file may be written");
    unsigned char bytes[32], back[20];
    for (int i = 0; i < 32; i++)
        bytes[i] = i;
    if (rank_of_world == 0)
        MPI_File_write_at(file, 0, bytes, 32, MPI_BYTE, MPI_STATUS_IGNORE);
    settle_file(file);
    MPI_File again = open_file(MPI_MODE_RDONLY);
    CHECK_CLASS(MPI_File_set_view(again, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS, "§14.3: it is only read");
    CHECK_CLASS(MPI_File_set_view(again, 0, MPI_BYTE, back_and_forth, "native", MPI_INFO_NULL), MPI_ERR_IO, "§14.3");
    MPI_Status status;
    for (int together = 0; together < 2; together++) {
        memset(back, 0, sizeof back);
        CHECK_CLASS(together ? MPI_File_read_at_all(again, 0, back, 20, MPI_BYTE, &status)
                             : MPI_File_read_at(again, 0, back, 20, MPI_BYTE, &status), MPI_SUCCESS, "§14.4");
        CHECK_EQUAL(status_count(&status, MPI_BYTE), 20, "§14.4");
        for (int i = 0; i < 20; i++)
            CHECK_EQUAL(back[i], wanted[i % 10] + i / 10 * 12, "§14.3");
    }
    MPI_Type_free(&type);
    MPI_Type_free(&back_and_forth);
    MPI_File_close(&again);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "interleaved_tiles");
    for (int together = 0; together < 2; together++) {
        transposed(1, together);
        transposed(2, together);
        transposed(COLUMNS, together);
    }
    one_copy("automatic");
    one_copy("enable");
    one_copy("disable");
    only_read();
    return check_finish();
}
