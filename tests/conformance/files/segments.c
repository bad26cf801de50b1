/* How benchmarks and checkpoints write one file: segments, each of a block of every process, each block in transfers; segmented, where a
 * process's transfers of a block lie together, and strided, where those of all processes take turns. By offsets and by views, alone and
 * together, and read by a process that did not write them: MPI-5.0 §14.4. */
#include "files.h"

enum { SEGMENTS = 3, TRANSFERS = 4 };

struct layout {
    int transfer; /* bytes */
    int strided, by_view, together;
};

/* Where a transfer of a rank lies in the file. */
static MPI_Offset place_of(const struct layout *l, int rank, int segment, int transfer)
{
    MPI_Offset in_segment = l->strided ? (MPI_Offset)transfer * size_of_world + rank : (MPI_Offset)rank * TRANSFERS + transfer;
    return ((MPI_Offset)segment * size_of_world * TRANSFERS + in_segment) * l->transfer;
}

static unsigned char content(MPI_Offset offset) { return (unsigned char)(offset % 253 + offset / 253); }

static void fill(unsigned char *data, const struct layout *l, int rank, int segment, int transfer)
{
    for (int i = 0; i < l->transfer; i++)
        data[i] = content(place_of(l, rank, segment, transfer) + i);
}

/* The view of what a rank has: the same in each segment. */
static void see(MPI_File file, const struct layout *l, int rank)
{
    MPI_Datatype blocks, type;
    MPI_Type_vector(l->strided ? TRANSFERS : 1, l->strided ? l->transfer : l->transfer * TRANSFERS, l->transfer * size_of_world, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)l->transfer * TRANSFERS * size_of_world, &type);
    MPI_Type_commit(&type);
    CHECK_CLASS(MPI_File_set_view(file, place_of(l, rank, 0, 0), MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS, "§14.3");
    MPI_Type_free(&blocks);
    MPI_Type_free(&type);
}

/* One transfer, by its offset in the file or, through a view, in what is seen. */
static void move(MPI_File file, const struct layout *l, int rank, int segment, int transfer, unsigned char *data, int writes)
{
    MPI_Offset at = l->by_view ? (MPI_Offset)(segment * TRANSFERS + transfer) * l->transfer : place_of(l, rank, segment, transfer);
    MPI_Status status;
    int code;
    if (writes)
        code = l->together ? MPI_File_write_at_all(file, at, data, l->transfer, MPI_BYTE, &status)
                           : MPI_File_write_at(file, at, data, l->transfer, MPI_BYTE, &status);
    else
        code = l->together ? MPI_File_read_at_all(file, at, data, l->transfer, MPI_BYTE, &status)
                           : MPI_File_read_at(file, at, data, l->transfer, MPI_BYTE, &status);
    CHECK_CLASS(code, MPI_SUCCESS, "§14.4");
    CHECK_EQUAL(status_count(&status, MPI_BYTE), l->transfer, "§14.4");
}

static void run(const struct layout *l)
{
    MPI_File file = open_scratch();
    unsigned char *data = need((size_t)l->transfer), *wanted = need((size_t)l->transfer);
    if (l->by_view)
        see(file, l, rank_of_world);
    for (int segment = 0; segment < SEGMENTS; segment++)
        for (int transfer = 0; transfer < TRANSFERS; transfer++) {
            fill(data, l, rank_of_world, segment, transfer);
            move(file, l, rank_of_world, segment, transfer, data, 1);
        }
    settle_file(file);
    CHECK_EQUAL(size_of_file(file), (long long)SEGMENTS * TRANSFERS * size_of_world * l->transfer, "§14.2.6");
    int next = (rank_of_world + 1) % size_of_world;
    if (l->by_view)
        see(file, l, next);
    for (int segment = SEGMENTS - 1; segment >= 0; segment--)
        for (int transfer = 0; transfer < TRANSFERS; transfer++) {
            memset(data, 0, (size_t)l->transfer);
            move(file, l, next, segment, transfer, data, 0);
            fill(wanted, l, next, segment, transfer);
            CHECK(memcmp(data, wanted, (size_t)l->transfer) == 0, "§14.4: what the next process wrote");
        }
    free(data);
    free(wanted);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "segments");
    static const int transfers[] = {16, 47008, 262144}; /* the second, no multiple of a page, as in the IO500's hard part */
    for (int size = 0; size < 3; size++)
        for (int kind = 0; kind < 8; kind++)
            run(&(struct layout){.transfer = transfers[size], .strided = kind & 1, .by_view = kind & 2, .together = kind & 4});
    return check_finish();
}
