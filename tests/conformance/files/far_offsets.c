/* Offsets beyond 2^31 and 2^32, of sparse files: explicit ones, those of views, pointers, sizes, collective access that is spread over
 * gigabytes: MPI-5.0 §14.2, §14.3, §14.4. */
#include "files.h"
#include <sys/mman.h>

static const MPI_Offset GIB = 1 << 30;

static void explicit_offsets(void)
{
    MPI_File file = open_scratch();
    const MPI_Offset places[] = {2 * GIB - 2, 2 * GIB, 4 * GIB - 2, 4 * GIB, 4 * GIB + 1, 9 * GIB};
    for (int i = 0; i < 6; i++) {
        int word = i * 100 + rank_of_world, back = -1;
        MPI_Offset at = places[i] + 64 * rank_of_world, position = -1;
        CHECK_CLASS(MPI_File_write_at(file, at, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4.2");
        CHECK_CLASS(MPI_File_seek(file, at, MPI_SEEK_SET), MPI_SUCCESS, "§14.4.3");
        CHECK_CLASS(MPI_File_read(file, &back, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4.3");
        CHECK_EQUAL(back, word, "§14.4.3");
        MPI_File_get_position(file, &position);
        CHECK_EQUAL(position, at + 4, "§14.4.3");
    }
    settle_file(file);
    CHECK_EQUAL(size_of_file(file), 9 * GIB + 64 * (size_of_world - 1) + 4, "§14.2.6");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_set_size(file, 20 * GIB), MPI_SUCCESS, "§14.2.4");
    CHECK_EQUAL(size_of_file(file), 20 * GIB, "§14.2.6");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_seek_shared(file, -1 * GIB, MPI_SEEK_END), MPI_SUCCESS, "§14.4.4");
    MPI_Offset shared = -1;
    MPI_File_get_position_shared(file, &shared);
    CHECK_EQUAL(shared, 19 * GIB, "§14.4.4");
    CHECK_CLASS(MPI_File_set_size(file, 3 * GIB), MPI_SUCCESS, "§14.2.4");
    CHECK_EQUAL(size_of_file(file), 3 * GIB, "§14.2.6");
    close_file(file);
}

/* Each process has a piece of each gigabyte, and one tile more. */
static void collective(const char *phases)
{
    enum { TILES = 3, PIECE = 1000 };
    MPI_File file = open_scratch();
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", phases);
    MPI_Info_set(info, "romio_cb_read", phases);
    MPI_Datatype piece, type;
    MPI_Type_contiguous(PIECE, MPI_INT, &piece);
    MPI_Type_create_resized(piece, 0, 2 * GIB, &type);
    MPI_Type_commit(&type);
    MPI_Offset start = GIB + rank_of_world * (MPI_Offset)(PIECE * sizeof(int)), last = -1;
    CHECK_CLASS(MPI_File_set_view(file, start, MPI_INT, type, "native", info), MPI_SUCCESS, "§14.3");
    MPI_File_get_byte_offset(file, TILES * PIECE - 1, &last);
    CHECK_EQUAL(last, start + (TILES - 1) * 2 * GIB + (PIECE - 1) * 4, "§14.4.3");
    static int data[TILES * PIECE], back[TILES * PIECE];
    for (int i = 0; i < TILES * PIECE; i++)
        data[i] = rank_of_world * 100000 + i;
    CHECK_CLASS(MPI_File_write_all(file, data, TILES * PIECE, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    settle_file(file);
    CHECK_CLASS(MPI_File_read_at_all(file, 0, back, TILES * PIECE, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4");
    CHECK(memcmp(back, data, sizeof data) == 0, "§14.4");
    /* As a neighbour sees it, without the view. */
    int left = left_neighbour();
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    for (int tile = 0; tile < TILES; tile++) {
        MPI_Offset at = GIB + tile * 2 * GIB + left * (MPI_Offset)(PIECE * sizeof(int));
        CHECK_CLASS(MPI_File_read_at(file, at, back, PIECE, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "§14.4.2");
        for (int i = 0; i < PIECE; i++)
            CHECK_EQUAL(back[i], left * 100000 + tile * PIECE + i, "§14.3");
    }
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

/* More elements than an int counts, of which the file has none: a large count, and no data. */
static void counts(void)
{
    MPI_File file = open_scratch();
    MPI_Status status;
    MPI_Count elements = -1;
    MPI_Offset position = -1;
    void *room = mmap(NULL, 3 * GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(room != MAP_FAILED, "addresses, which are never touched");
    CHECK_CLASS(MPI_File_read_c(file, room, 3 * GIB, MPI_CHAR, &status), MPI_SUCCESS, "§14.4.3");
    MPI_Get_elements_c(&status, MPI_CHAR, &elements);
    CHECK_EQUAL(elements, 0, "§14.4.5: at the end");
    MPI_File_get_position(file, &position);
    CHECK_EQUAL(position, 3 * GIB, "§14.4.3: by what was asked for");
    munmap(room, 3 * GIB);
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "far_offsets");
    explicit_offsets();
    collective("automatic");
    collective("enable");
    collective("disable");
    counts();
    return check_finish();
}
