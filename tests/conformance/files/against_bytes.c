/* Random accesses to one file against a model of single bytes, which every process keeps: views, ways of writing and reading, memory types and
 * hints are random, and alike wherever the standard wants them so. What a call writes is changed, and nothing else is: MPI-5.0 §14.3, §14.4. */
#include "files.h"

enum { ROUNDS = 12, WRITES = 4, RUNS = 40, MOST_TILE = 4000, MOST_BYTES = 1 << 20 };

static uint64_t state = 12345;

/* A number below `end`, the same on all processes. */
static int below(int end)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)end);
}

/* The bytes of a tile that a process sees. */
struct tile {
    int places[RUNS], lengths[RUNS], runs, bytes, extent;
};

/* Deals the runs of a tile out to processes, and some to nobody. `longest` is that of a run. */
static void deal(struct tile *tiles, int longest)
{
    for (int rank = 0; rank < size_of_world; rank++)
        tiles[rank].runs = tiles[rank].bytes = 0;
    int at = 0;
    for (int run = 0; run < RUNS && at + longest < MOST_TILE; run++) {
        const int length = 1 + below(longest);
        const int owner = run < size_of_world ? run : below(size_of_world + 1);
        if (owner < size_of_world) {
            struct tile *tile = &tiles[owner];
            tile->places[tile->runs] = at;
            tile->lengths[tile->runs++] = length;
            tile->bytes += length;
        }
        at += length + (below(3) ? 0 : below(longest));
    }
    for (int rank = 0; rank < size_of_world; rank++)
        tiles[rank].extent = at;
}

/* Where a position of a view lies in the file. */
static int offset_of(const struct tile *tile, int displacement, int position)
{
    int rest = position % tile->bytes, run = 0;
    while (rest >= tile->lengths[run])
        rest -= tile->lengths[run++];
    return displacement + position / tile->bytes * tile->extent + tile->places[run] + rest;
}

static void see(MPI_File file, const struct tile *tile, int displacement)
{
    static const char *const switches[] = {"automatic", "enable", "disable"};
    char number[16];
    MPI_Datatype runs, type;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", switches[below(3)]);
    MPI_Info_set(info, "romio_cb_read", switches[below(3)]);
    MPI_Info_set(info, "romio_ds_write", switches[below(3)]);
    MPI_Info_set(info, "romio_ds_read", switches[below(3)]);
    snprintf(number, sizeof number, "%d", 1 + below(size_of_world));
    MPI_Info_set(info, "cb_nodes", number);
    snprintf(number, sizeof number, "%d", 1 << (8 + below(12)));
    MPI_Info_set(info, "cb_buffer_size", number);
    snprintf(number, sizeof number, "%d", 1 + below(5000));
    MPI_Info_set(info, "striping_unit", number);
    MPI_Type_indexed(tile->runs, tile->lengths, tile->places, MPI_BYTE, &runs);
    MPI_Type_create_resized(runs, 0, tile->extent, &type);
    MPI_Type_commit(&type);
    CHECK_CLASS(MPI_File_set_view(file, displacement, MPI_BYTE, type, "native", info), MPI_SUCCESS, "§14.3");
    MPI_Type_free(&type);
    MPI_Type_free(&runs);
    MPI_Info_free(&info);
}

/* A byte of memory, and as many after it that no access touches. */
static MPI_Datatype spread(int gap)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_BYTE, 0, 1 + gap, &type);
    MPI_Type_commit(&type);
    return type;
}

enum way { AT_ALL, IAT_ALL, INDIVIDUAL_ALL, SPLIT, AT, IAT, WAYS };

/* Reads into or writes from memory, from a position of the view on. Returns how many bytes there were. */
static int access_file(MPI_File file, enum way way, int writes, int start, unsigned char *memory, int count, MPI_Datatype type)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int code = MPI_SUCCESS;
    switch (way) {
    case AT_ALL: code = (writes ? MPI_File_write_at_all(file, start, memory, count, type, &status)
                                : MPI_File_read_at_all(file, start, memory, count, type, &status)); break;
    case IAT_ALL: code = (writes ? MPI_File_iwrite_at_all(file, start, memory, count, type, &request)
                                 : MPI_File_iread_at_all(file, start, memory, count, type, &request)); break;
    case INDIVIDUAL_ALL:
        MPI_File_seek(file, start, MPI_SEEK_SET);
        code = writes ? MPI_File_write_all(file, memory, count, type, &status) : MPI_File_read_all(file, memory, count, type, &status);
        break;
    case SPLIT:
        code = writes ? MPI_File_write_at_all_begin(file, start, memory, count, type)
                      : MPI_File_read_at_all_begin(file, start, memory, count, type);
        CHECK_CLASS(code, MPI_SUCCESS, "§14.4.5");
        code = writes ? MPI_File_write_at_all_end(file, memory, &status) : MPI_File_read_at_all_end(file, memory, &status);
        break;
    case AT: code = (writes ? MPI_File_write_at(file, start, memory, count, type, &status)
                            : MPI_File_read_at(file, start, memory, count, type, &status)); break;
    default: code = (writes ? MPI_File_iwrite_at(file, start, memory, count, type, &request)
                            : MPI_File_iread_at(file, start, memory, count, type, &request));
    }
    CHECK_CLASS(code, MPI_SUCCESS, "§14.4");
    if (request != MPI_REQUEST_NULL)
        CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS, "§14.4");
    return status_count(&status, MPI_BYTE);
}

static unsigned char model[MOST_BYTES], found[MOST_BYTES + 1];
static int model_bytes;

static unsigned char value(int write, int rank, int index) { return (unsigned char)(write * 59 + rank * 101 + index * 31 + 1); }

/* One call of each process, which all of them do to their models too. */
static void write_once(MPI_File file, struct tile *tiles, int displacement, int write)
{
    const enum way way = below(WAYS);
    const int gap = below(3), tiles_most = MOST_BYTES / MOST_TILE / 4;
    MPI_Datatype type = spread(gap);
    for (int rank = 0; rank < size_of_world; rank++) {
        const struct tile *tile = &tiles[rank];
        const int start = below(tile->bytes * 3), count = below(5) ? below(tile->bytes * (1 + below(tiles_most))) : 0;
        unsigned char *memory = need((size_t)count * (size_t)(1 + gap) + 1);
        for (int i = 0; i < count; i++) {
            const int offset = offset_of(tile, displacement, start + i);
            CHECK(offset < MOST_BYTES, "the model's size");
            memory[i * (1 + gap)] = model[offset] = value(write, rank, i);
            if (offset >= model_bytes)
                model_bytes = offset + 1;
        }
        if (rank == rank_of_world)
            CHECK_EQUAL(access_file(file, way, 1, start, memory, count, type), count, "§14.4");
        free(memory);
    }
    MPI_Type_free(&type);
    settle_file(file);
}

static void read_once(MPI_File file, const struct tile *tile, int displacement)
{
    const enum way way = below(WAYS);
    const int gap = below(3);
    /* From here on processes differ. */
    const uint64_t common = state;
    state += (uint64_t)rank_of_world;
    const int start = below(tile->bytes * 3), count = below(tile->bytes * 60);
    MPI_Datatype type = spread(gap);
    const size_t bytes = (size_t)count * (size_t)(1 + gap) + 1;
    unsigned char *memory = need(bytes);
    memset(memory, 0xa5, bytes);
    const int there = access_file(file, way, 0, start, memory, count, type);
    int wanted = 0;
    for (; wanted < count; wanted++) {
        const int offset = offset_of(tile, displacement, start + wanted);
        if (offset >= model_bytes)
            break;
        CHECK_EQUAL(memory[wanted * (1 + gap)], model[offset], "§14.4: the byte that was written");
    }
    CHECK_EQUAL(there, wanted, "§14.4: as far as the file goes");
    for (size_t i = 0; i < bytes; i++)
        CHECK((i % (size_t)(1 + gap) == 0 && i / (size_t)(1 + gap) < (size_t)wanted) || memory[i] == 0xa5, "§14.4: nothing else");
    free(memory);
    MPI_Type_free(&type);
    state = common;
}

static void round_of(int round)
{
    struct tile *tiles = need(sizeof *tiles * (size_t)size_of_world);
    MPI_File file = open_scratch();
    memset(model, 0, sizeof model);
    model_bytes = 0;
    for (int write = 0; write < WRITES; write++) {
        const int displacement = below(2000);
        deal(tiles, 1 + below(round % 3 == 0 ? 8 : 60));
        see(file, &tiles[rank_of_world], displacement);
        write_once(file, tiles, displacement, write);
        CHECK_EQUAL(raw_bytes(found, sizeof found), model_bytes, "§14.2.6: the file's size");
        CHECK(memcmp(found, model, (size_t)model_bytes) == 0, "§14.4: what was written, and nothing else");
        MPI_Barrier(MPI_COMM_WORLD);
        read_once(file, &tiles[rank_of_world], displacement);
        deal(tiles, 1 + below(60));
        see(file, &tiles[rank_of_world], displacement);
        read_once(file, &tiles[rank_of_world], displacement);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close_file(file);
    free(tiles);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "against_bytes");
    for (int round = 0; round < ROUNDS; round++)
        round_of(round);
    return check_finish();
}
