/* Atomic mode, what a process sees of its own writes, and threads: MPI-5.0 §14.6. */
#include "files.h"

/* All write the same bytes, each its own value; in atomic mode one of them is seen, never a mixture. */
static void atomic(int strided)
{
    enum { BYTES = 20000, ROUNDS = 20 };
    MPI_File file = open_scratch();
    int flag = -1;
    MPI_File_get_atomicity(file, &flag);
    CHECK_EQUAL(flag, 0, "§14.6.1: not at first");
    CHECK_CLASS(MPI_File_set_atomicity(file, 1), MPI_SUCCESS, "§14.6.1");
    MPI_File_get_atomicity(file, &flag);
    CHECK_EQUAL(flag, 1, "§14.6.1");
    MPI_Datatype every;
    MPI_Type_vector(BYTES / 10, 10, 17, MPI_BYTE, &every);
    MPI_Type_commit(&every);
    if (strided)
        MPI_File_set_view(file, 3, MPI_BYTE, every, "native", MPI_INFO_NULL);
    char *data = need(BYTES), *back = need(BYTES);
    memset(data, 'a' + rank_of_world, BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 2)
            MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        for (int i = 1; i < BYTES; i++)
            CHECK(back[i] == back[0], "§14.6.1", "round %d, byte %d", round, i);
    }
    MPI_Type_free(&every);
    free(data);
    free(back);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

/* A process sees at once what it wrote, though another one wrote it for it. */
static void own_writes(void)
{
    MPI_File file = open_scratch();
    MPI_Datatype column, mine;
    MPI_Type_create_resized(MPI_INT, 0, 4 * size_of_world, &column);
    MPI_Type_commit(&column);
    MPI_Type_contiguous(1000, column, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, 4 * rank_of_world, MPI_INT, mine, "native", MPI_INFO_NULL);
    static int in[1000], out[1000];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++)
            in[i] = round * 100000 + rank_of_world * 1000 + i;
        MPI_File_write_at_all(file, 0, in, 1000, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, 0, out, 1000, MPI_INT, MPI_STATUS_IGNORE);
        CHECK(memcmp(in, out, sizeof in) == 0, "§14.6.1");
    }
    MPI_Type_free(&column);
    MPI_Type_free(&mine);
    close_file(file);
}

/* Many requests under way at once, of which some are freed. */
static void many_requests(void)
{
    enum { REQUESTS = 64, WORDS = 100 };
    MPI_File file = open_scratch();
    static int in[REQUESTS][WORDS], out[REQUESTS][WORDS];
    MPI_Request requests[REQUESTS];
    MPI_File_set_view(file, rank_of_world * sizeof in, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int i = 0; i < REQUESTS; i++) {
        for (int j = 0; j < WORDS; j++)
            in[i][j] = i * WORDS + j;
        MPI_File_iwrite_at(file, i * WORDS, in[i], WORDS, MPI_INT, &requests[i]);
    }
    MPI_Status statuses[REQUESTS];
    CHECK_CLASS(MPI_Waitall(REQUESTS, requests, statuses), MPI_SUCCESS, "§3.7.5");
    for (int i = 0; i < REQUESTS; i++) {
        CHECK_EQUAL(status_count(&statuses[i], MPI_INT), WORDS, "§14.4.5");
        MPI_File_iread_at(file, i * WORDS, out[i], WORDS, MPI_INT, &requests[i]);
    }
    int done = 0, index;
    while (done < REQUESTS) {
        MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE);
        CHECK(memcmp(in[index], out[index], sizeof in[index]) == 0, "§14.4");
        done++;
    }
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "consistency");
    atomic(0);
    atomic(1);
    own_writes();
    many_requests();
    return check_finish();
}
