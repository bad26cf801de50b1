/* Individual and shared file pointers, and access in the order of ranks: MPI-5.0 §14.4.3, §14.4.4. */
#include "files.h"

static void individual(void)
{
    MPI_File file = open_scratch();
    MPI_Offset at = -1;
    double words[4] = {1, 2, 3, 4}, back[8];
    MPI_Status status;
    MPI_File_set_view(file, rank_of_world * 64, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_write(file, words, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, 4, "§14.4.3");
    CHECK_CLASS(MPI_File_seek(file, -3, MPI_SEEK_CUR), MPI_SUCCESS, "§14.4.3");
    MPI_File_read(file, back, 2, MPI_DOUBLE, &status);
    CHECK(back[0] == 2 && back[1] == 3, "§14.4.3");
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, 3, "§14.4.3");
    /* Explicit offsets leave it alone. */
    MPI_File_read_at(file, 0, back, 1, MPI_DOUBLE, &status);
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, 3, "§14.4.2");
    settle_file(file);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, (size_of_world - 1 - rank_of_world) * 8 + 4, "§14.4.3");
    CHECK_CLASS(MPI_File_seek(file, -1 - at, MPI_SEEK_CUR), MPI_ERR_ARG, "§14.4.3: before the beginning");
    MPI_File_read(file, back, 4, MPI_DOUBLE, &status);
    CHECK_EQUAL(status_count(&status, MPI_DOUBLE), 0, "§14.4.5: at the end");
    close_file(file);
}

/* Each process appends records; none is lost, none overlaps. */
static void shared(int nonblocking)
{
    enum { RECORDS = 50 };
    MPI_File file = open_scratch();
    MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    int record[3];
    for (int i = 0; i < RECORDS; i++) {
        int length = 1 + (i + rank_of_world) % 3;
        record[0] = record[1] = record[2] = rank_of_world * RECORDS + i + 1;
        if (nonblocking) {
            MPI_Request request;
            CHECK_CLASS(MPI_File_iwrite_shared(file, record, length, MPI_INT, &request), MPI_SUCCESS, "§14.4.4");
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            CHECK_CLASS(MPI_File_write_shared(file, record, length, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4.4");
        }
    }
    settle_file(file);
    MPI_Offset total = -1;
    MPI_File_get_position_shared(file, &total);
    MPI_Barrier(MPI_COMM_WORLD);
    int *all = need(total * sizeof(int)), *seen = need((size_of_world * RECORDS + 1) * sizeof(int));
    memset(seen, 0, (size_of_world * RECORDS + 1) * sizeof(int));
    MPI_File_read_at_all(file, 0, all, total, MPI_INT, MPI_STATUS_IGNORE);
    for (MPI_Offset i = 0; i < total; i++)
        seen[all[i]]++;
    CHECK_EQUAL(seen[0], 0, "§14.4.4: no gap");
    for (int rank = 0; rank < size_of_world; rank++)
        for (int i = 0; i < RECORDS; i++)
            CHECK_EQUAL(seen[rank * RECORDS + i + 1], 1 + (i + rank) % 3, "§14.4.4");
    /* And back: everything is read by somebody, once. */
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_SUCCESS, "§14.4.4");
    long long sum = 0, wanted = 0, found = 0;
    MPI_Status status;
    do {
        MPI_File_read_shared(file, record, 2, MPI_INT, &status);
        found = status_count(&status, MPI_INT);
        for (int i = 0; i < found; i++)
            sum += record[i];
    } while (found);
    for (MPI_Offset i = 0; i < total; i++)
        wanted += all[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, wanted, "§14.4.4");
    free(all);
    free(seen);
    close_file(file);
}

/* Rank order, whatever the lengths. */
static void ordered(int split)
{
    MPI_File file = open_scratch();
    int length = rank_of_world + 1, before = rank_of_world * (rank_of_world + 1) / 2;
    int total = size_of_world * (size_of_world + 1) / 2, *data = need(length * sizeof(int)), *back = need(length * sizeof(int));
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_Status status;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < length; i++)
            data[i] = round * total + before + i;
        if (split) {
            CHECK_CLASS(MPI_File_write_ordered_begin(file, data, length, MPI_INT), MPI_SUCCESS, "§14.4.5");
            CHECK_CLASS(MPI_File_write_ordered_end(file, data, &status), MPI_SUCCESS, "§14.4.5");
        } else {
            CHECK_CLASS(MPI_File_write_ordered(file, data, length, MPI_INT, &status), MPI_SUCCESS, "§14.4.4");
        }
        CHECK_EQUAL(status_count(&status, MPI_INT), length, "§14.4.5");
    }
    settle_file(file);
    int *all = need(3 * total * sizeof(int));
    CHECK_EQUAL(raw_bytes((unsigned char *)all, 3 * total * sizeof(int)), 3 * total * sizeof(int), "§14.4.4");
    for (int i = 0; i < 3 * total; i++)
        CHECK_EQUAL(all[i], i, "§14.4.4");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, total, MPI_SEEK_SET);
    if (split) {
        MPI_File_read_ordered_begin(file, back, length, MPI_INT);
        MPI_File_read_ordered_end(file, back, &status);
    } else {
        MPI_File_read_ordered(file, back, length, MPI_INT, &status);
    }
    for (int i = 0; i < length; i++)
        CHECK_EQUAL(back[i], total + before + i, "§14.4.4");
    MPI_Offset at = -1;
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, 2 * total, "§14.4.4");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, -total, MPI_SEEK_END);
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, 2 * total, "§14.4.4");
    free(all);
    free(data);
    free(back);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

/* MPI_MODE_SEQUENTIAL has shared pointers only: §14.2.1. */
static void sequential(void)
{
    name_file();
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
    int word = 5;
    MPI_Offset at;
    CHECK_CLASS(MPI_File_write_at(file, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION, "§14.2.1");
    CHECK_CLASS(MPI_File_write(file, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION, "§14.2.1");
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION, "§14.2.1");
    CHECK_CLASS(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION, "§14.2.1");
    CHECK_CLASS(MPI_File_write_ordered(file, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4.4");
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG, "§14.3");
    CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS, "§14.3");
    MPI_Datatype etype, filetype;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_File_get_view(file, &at, &etype, &filetype, name);
    CHECK_EQUAL(at, 4 * size_of_world, "§14.3");
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "pointers");
    individual();
    shared(0);
    shared(1);
    ordered(0);
    ordered(1);
    sequential();
    return check_finish();
}
