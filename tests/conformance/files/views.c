/* Random views, accessed by every call that there is, against a model that knows bytes only: MPI-5.0 §14.3, §14.4.
 *
 * A tile of cells is dealt out to the processes at random, or in turn; some cells are nobody's. Each process's file type has its
 * cells, so nobody writes where another does. What is nobody's has to stay as it was. */
#include "files.h"

enum { CELLS = 40, TILES = 6, ETYPE = 4, HEAD = 12, BYTES = HEAD + CELLS * TILES * ETYPE, TRIALS = 24, NOBODY = -1 };

static unsigned random_state = 1;

/* The same row on all processes. */
static unsigned draw(unsigned below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static int owner[CELLS];

static int cells_of(int rank)
{
    int cells = 0;
    for (int i = 0; i < CELLS; i++)
        cells += owner[i] == rank;
    return cells;
}

/* Where etype `index` of a process's view lies in the file. */
static size_t place(int rank, int index)
{
    int mine = cells_of(rank), tile = index / mine, wanted = index % mine;
    for (int i = 0; i < CELLS; i++)
        if (owner[i] == rank && wanted-- == 0)
            return HEAD + (size_t)(tile * CELLS + i) * ETYPE;
    return 0;
}

static uint32_t value(int rank, int trial, int index) { return 0x10000000u * (rank + 1) + trial * 4096 + index; }

static void deal(int trial)
{
    int in_turn = trial % 3 == 0, width = 1 + draw(3);
    for (int i = 0; i < CELLS; i++)
        owner[i] = in_turn ? i / width % (size_of_world + 1) - 1 : (int)draw(size_of_world + 1) - 1;
    /* Everybody has a cell. */
    for (int rank = 0; rank < size_of_world; rank++)
        owner[draw(CELLS / size_of_world) * size_of_world + rank] = rank;
}

/* A file type of the own cells: from a list, or, where they are dealt out in turn with a width of 1, a vector. */
static MPI_Datatype own_cells(void)
{
    int places[CELLS], lengths[CELLS], count = 0, even = 1;
    MPI_Datatype type, resized;
    for (int i = 0; i < CELLS; i++)
        if (owner[i] == rank_of_world) {
            lengths[count] = 1;
            places[count++] = i;
        }
    for (int i = 2; i < count; i++)
        even &= places[i] - places[i - 1] == places[1] - places[0];
    if (even && count > 2) {
        MPI_Datatype column;
        MPI_Type_vector(count, 1, places[1] - places[0], MPI_INT, &column);
        MPI_Aint at = places[0] * ETYPE;
        MPI_Type_create_hindexed_block(1, 1, &at, column, &type);
        MPI_Type_free(&column);
    } else {
        MPI_Type_indexed(count, lengths, places, MPI_INT, &type);
    }
    MPI_Type_create_resized(type, 0, CELLS * ETYPE, &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&type);
    return resized;
}

enum form { AT, POINTER, AT_ALL, ALL, SPLIT_AT, SPLIT, I_AT, I_POINTER, I_AT_ALL, I_ALL, FORMS };

static MPI_Status wait_for(MPI_Request request)
{
    MPI_Status status;
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS, "§14.4.5");
    return status;
}

#define IN_FORM(verb, form, file, at, buffer, count, type) \
    do { \
        if (form == POINTER || form == ALL || form == SPLIT || form == I_POINTER || form == I_ALL) \
            CHECK_CLASS(MPI_File_seek(file, at, MPI_SEEK_SET), MPI_SUCCESS, "§14.4.3"); \
        switch (form) { \
        case AT: code = MPI_File_##verb##_at(file, at, buffer, count, type, &status); break; \
        case POINTER: code = MPI_File_##verb(file, buffer, count, type, &status); break; \
        case AT_ALL: code = MPI_File_##verb##_at_all_c(file, at, buffer, count, type, &status); break; \
        case ALL: code = MPI_File_##verb##_all(file, buffer, count, type, &status); break; \
        case SPLIT_AT: \
            code = MPI_File_##verb##_at_all_begin(file, at, buffer, count, type); \
            code |= MPI_File_##verb##_at_all_end(file, buffer, &status); \
            break; \
        case SPLIT: \
            code = MPI_File_##verb##_all_begin_c(file, buffer, count, type); \
            code |= MPI_File_##verb##_all_end(file, buffer, &status); \
            break; \
        case I_AT: code = MPI_File_i##verb##_at(file, at, buffer, count, type, &request); status = wait_for(request); break; \
        case I_POINTER: code = MPI_File_i##verb##_c(file, buffer, count, type, &request); status = wait_for(request); break; \
        case I_AT_ALL: code = MPI_File_i##verb##_at_all(file, at, buffer, count, type, &request); status = wait_for(request); break; \
        default: code = MPI_File_i##verb##_all(file, buffer, count, type, &request); status = wait_for(request); break; \
        } \
        CHECK_CLASS(code, MPI_SUCCESS, "§14.4"); \
    } while (0)

/* A memory type of `count` ints: one after the other, or with a gap after each. */
static MPI_Datatype in_memory(int gaps)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, ETYPE * (1 + gaps), &type);
    MPI_Type_commit(&type);
    return type;
}

static void trial(int number, MPI_File file, unsigned char *model)
{
    MPI_Status status;
    MPI_Request request;
    int code, form = number % FORMS, other = (number * 7 + 3) % FORMS;
    deal(number);
    int gaps = draw(3), starts[16], counts[16];
    for (int rank = 0; rank < size_of_world; rank++) {
        int all = cells_of(rank) * TILES;
        starts[rank] = draw(all);
        counts[rank] = draw(all - starts[rank] + 1);
        for (int i = 0; i < counts[rank]; i++) {
            uint32_t word = value(rank, number, i);
            memcpy(model + place(rank, starts[rank] + i), &word, ETYPE);
        }
    }
    MPI_Datatype cells = own_cells(), memory = in_memory(gaps);
    CHECK_CLASS(MPI_File_set_view(file, HEAD, MPI_INT, cells, "native", MPI_INFO_NULL), MPI_SUCCESS, "§14.3");
    int start = starts[rank_of_world], count = counts[rank_of_world], all = cells_of(rank_of_world) * TILES;
    uint32_t *data = need((size_t)(all + 1) * (1 + gaps) * ETYPE);
    for (int i = 0; i < count; i++)
        data[i * (1 + gaps)] = value(rank_of_world, number, i);
    IN_FORM(write, form, file, start, data, count, memory);
    CHECK_EQUAL(status_count(&status, MPI_INT), count, "§14.4.5");
    settle_file(file);
    static unsigned char found[BYTES];
    size_t there = raw_bytes(found, BYTES);
    for (size_t i = 0; i < there; i++)
        CHECK(found[i] == model[i], "§14.3", "trial %d, byte %zu is %02x, expected %02x", number, i, found[i], model[i]);
    /* All that the view shows, as far as the file goes. */
    int seen = 0;
    while (seen < all && place(rank_of_world, seen) + ETYPE <= there)
        seen++;
    memset(data, 0x55, (size_t)(all + 1) * (1 + gaps) * ETYPE);
    IN_FORM(read, other, file, 0, data, all, memory);
    CHECK_EQUAL(status_count(&status, MPI_INT), seen, "§14.4.5: as far as the file goes");
    for (int i = 0; i < seen; i++)
        CHECK(memcmp(data + i * (1 + gaps), model + place(rank_of_world, i), ETYPE) == 0, "§14.4",
              "trial %d, form %d, etype %d", number, other, i);
    for (int i = 0; gaps && i < seen; i++)
        CHECK_EQUAL(data[i * (1 + gaps) + 1], 0x55555555, "§14.4: nothing between");
    MPI_Offset offset = -1;
    MPI_File_get_byte_offset(file, all - 1, &offset);
    CHECK_EQUAL(offset, place(rank_of_world, all - 1), "§14.4.3");
    free(data);
    MPI_Type_free(&cells);
    MPI_Type_free(&memory);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void with_hints(const char *reading, const char *buffer, const char *nodes)
{
    static unsigned char model[BYTES];
    memset(model, 0, BYTES);
    MPI_File file = open_scratch();
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", reading);
    MPI_Info_set(info, "romio_cb_write", reading);
    MPI_Info_set(info, "cb_buffer_size", buffer);
    MPI_Info_set(info, "striping_unit", buffer);
    if (*nodes)
        MPI_Info_set(info, "cb_nodes", nodes);
    CHECK_CLASS(MPI_File_set_info(file, info), MPI_SUCCESS, "§14.2.8");
    MPI_Info_free(&info);
    for (int number = 0; number < TRIALS; number++)
        trial(number, file, model);
    close_file(file);
}

/* What a view is, is told; datatypes are copies. */
static void told(void)
{
    MPI_File file = open_scratch();
    MPI_Offset at = -1;
    MPI_Datatype etype, filetype, vector;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_File_get_view(file, &at, &etype, &filetype, name);
    CHECK(at == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(name, "native") == 0, "§14.3: at first");
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_File_set_view(file, 100, MPI_INT, vector, "native", MPI_INFO_NULL);
    MPI_Type_free(&vector);
    MPI_File_get_view(file, &at, &etype, &filetype, name);
    int size = -1;
    MPI_Type_size(filetype, &size);
    CHECK(at == 100 && etype == MPI_INT && size == 12, "§14.3");
    MPI_Type_free(&filetype);
    if (size_of_world > 1) {
        MPI_Datatype different = rank_of_world ? MPI_INT : MPI_DOUBLE;
        CHECK_CLASS(MPI_File_set_view(file, 0, different, different, "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME, "§14.3");
    }
    close_file(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "views");
    if (size_of_world <= 16) {
        with_hints("automatic", "16777216", "");
        with_hints("enable", "64", "");
        with_hints("enable", "100", "1");
        with_hints("disable", "4096", "");
    }
    told();
    return check_finish();
}
