/* File types that are long lists of pieces at places that no stride tells, and of lengths that differ, in accesses that processes make
 * together: MPI-5.0 §14.3, §14.4. Rows of one piece of each process follow each other, dealt out anew in each. */
#include "files.h"

enum { ROWS = 3000, LONGEST = 7, TILES = 3 };

static unsigned seed;

static int drawn(int bound)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)bound);
}

/* Where this process's pieces lie in a tile, how long they are, and the bytes of a tile: of all processes' pieces, and of this one's. */
static int places[ROWS], lengths[ROWS], tile_bytes, own_bytes;
/* The piece that was looked at last, and the bytes of this process's before it. */
static int row, before;

static void deal(int alike)
{
    int *turn = need((size_t)size_of_world * sizeof *turn);
    seed = 5;
    tile_bytes = own_bytes = row = before = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < size_of_world; i++) {
            int other = drawn(i + 1);
            turn[i] = turn[other];
            turn[other] = i;
        }
        for (int i = 0; i < size_of_world; i++) {
            int length = alike ? LONGEST : 1 + drawn(LONGEST);
            if (turn[i] == rank_of_world) {
                places[r] = tile_bytes;
                lengths[r] = length;
                own_bytes += length;
            }
            tile_bytes += length;
        }
    }
    free(turn);
}

static unsigned char content(long long offset) { return (unsigned char)(offset * 31 + offset / 251); }

/* Where a byte of this process's view lies. */
static long long place_of(long long position, int first)
{
    long long tile = position / own_bytes;
    int rest = (int)(position % own_bytes);
    if (rest < before)
        row = before = 0;
    while (rest >= before + lengths[row])
        before += lengths[row++];
    return first + tile * tile_bytes + places[row] + rest - before;
}

static MPI_Info hints(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "cb_buffer_size", "8192");
    MPI_Info_set(info, "cb_nodes", "3");
    return info;
}

/* All bytes of a file from `first` on are as they should be. */
static void check_bytes(int first, long long end)
{
    unsigned char *all = need((size_t)end);
    CHECK_EQUAL(raw_bytes(all, (size_t)end), end, "§14.4");
    for (long long i = first; i < end; i++)
        CHECK(all[i] == content(i), "§14.4", "byte %lld is %d", i, all[i]);
    free(all);
}

/* A third of a tile, and then the rest of it and two more, in two calls that follow each other or are under way together. */
static void together(int alike, int first, int nonblocking)
{
    deal(alike);
    MPI_File file = open_scratch();
    MPI_Info info = hints();
    MPI_Datatype list, type;
    MPI_Type_indexed(ROWS, lengths, places, MPI_BYTE, &list);
    MPI_Type_create_resized(list, 0, tile_bytes, &type);
    MPI_Type_commit(&type);
    CHECK_CLASS(MPI_File_set_view(file, first, MPI_BYTE, type, "native", info), MPI_SUCCESS, "§14.3");
    int bytes = own_bytes * TILES, cut = own_bytes / 3;
    unsigned char *data = need((size_t)bytes), *back = need((size_t)bytes);
    for (int i = 0; i < bytes; i++)
        data[i] = content(place_of(i, first));
    MPI_Request requests[2];
    if (nonblocking) {
        MPI_File_iwrite_at_all(file, 0, data, cut, MPI_BYTE, &requests[0]);
        MPI_File_iwrite_at_all(file, cut, data + cut, bytes - cut, MPI_BYTE, &requests[1]);
        CHECK_CLASS(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS, "§14.4");
    } else {
        CHECK_CLASS(MPI_File_write_at_all(file, 0, data, cut, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
        CHECK_CLASS(MPI_File_write_at_all(file, cut, data + cut, bytes - cut, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    }
    settle_file(file);
    check_bytes(first, first + (long long)tile_bytes * TILES);
    for (int again = 0; again < 2; again++) {
        memset(back, 0, (size_t)bytes);
        MPI_Status status;
        CHECK_CLASS(MPI_File_read_at_all(file, cut, back + cut, bytes - cut, MPI_BYTE, &status), MPI_SUCCESS, "§14.4");
        CHECK_EQUAL(status_count(&status, MPI_BYTE), bytes - cut, "§14.4");
        CHECK(memcmp(back + cut, data + cut, (size_t)(bytes - cut)) == 0, "§14.4: what was written");
    }
    /* Some have nothing to read. */
    int count = rank_of_world % 2 ? 0 : cut;
    CHECK_CLASS(MPI_File_read_at_all(file, 0, back, count, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    CHECK(memcmp(back, data, (size_t)count) == 0, "§14.4: what was written");
    free(data);
    free(back);
    MPI_Type_free(&list);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

/* The first process sees every byte, the others lists; it reads what they wrote. */
static void beside_a_pattern(void)
{
    deal(0);
    MPI_File file = open_scratch();
    MPI_Info info = hints();
    MPI_Datatype type;
    MPI_Type_indexed(ROWS, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    int plain = rank_of_world == 0, bytes = own_bytes;
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", info), MPI_SUCCESS, "§14.3");
    unsigned char *data = need((size_t)tile_bytes);
    for (int i = 0; i < bytes; i++)
        data[i] = content(place_of(i, 0));
    CHECK_CLASS(MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    settle_file(file);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, plain ? MPI_BYTE : type, "native", info), MPI_SUCCESS, "§14.3");
    memset(data, 0, (size_t)tile_bytes);
    CHECK_CLASS(MPI_File_read_all(file, data, plain ? tile_bytes : bytes, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    for (int i = 0; i < (plain ? tile_bytes : bytes); i++)
        CHECK_EQUAL(data[i], content(plain ? i : place_of(i, 0)), "§14.4");
    free(data);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "long_lists");
    for (int alike = 0; alike < 2; alike++)
        for (int nonblocking = 0; nonblocking < 2; nonblocking++)
            together(alike, alike * 13, nonblocking);
    beside_a_pattern();
    return check_finish();
}
