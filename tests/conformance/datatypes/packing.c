/* MPI_Pack, MPI_Unpack, MPI_Pack_size and messages of MPI_PACKED: MPI-5.0 §5.2. */
#include "check.h"

static const char words[] = "packed data";

/* Several units in one buffer, unpacked by another division. */
static void units(void)
{
    unsigned char buffer[256];
    int numbers[4] = { 1, 2, 3, 4 }, got[4] = { 0 }, position = 0, size = 0, part = 0;
    double value = 2.5, got_value = 0;
    char got_words[sizeof words] = "";
    MPI_Pack_size(4, MPI_INT, MPI_COMM_WORLD, &part);
    size += part;
    MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &part);
    size += part;
    MPI_Pack_size(sizeof words, MPI_CHAR, MPI_COMM_WORLD, &part);
    size += part;
    CHECK(size >= (int)(sizeof numbers + sizeof value + sizeof words) && size <= (int)sizeof buffer,
          "MPI-5.0 §5.2: an upper bound");
    MPI_Pack(numbers, 4, MPI_INT, buffer, size, &position, MPI_COMM_WORLD);
    MPI_Pack(&value, 1, MPI_DOUBLE, buffer, size, &position, MPI_COMM_WORLD);
    MPI_Pack(words, sizeof words, MPI_CHAR, buffer, size, &position, MPI_COMM_WORLD);
    CHECK(position <= size, "MPI-5.0 §5.2");
    int end = position;
    position = 0;
    MPI_Unpack(buffer, end, &position, got, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, end, &position, got + 3, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, end, &position, &got_value, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(buffer, end, &position, got_words, sizeof words, MPI_CHAR, MPI_COMM_WORLD);
    CHECK_EQUAL(position, end, "MPI-5.0 §5.2");
    CHECK(memcmp(got, numbers, sizeof got) == 0 && got_value == value && strcmp(got_words, words) == 0,
          "MPI-5.0 §5.2");
}

/* What was sent as MPI_PACKED matches any type, and the other way round. */
static void messages(void)
{
    unsigned char buffer[64];
    int sent[3] = { 7, 8, 9 }, got[3] = { 0 }, position = 0;
    double value = 0.5, got_value = 0;
    MPI_Status status;
    MPI_Datatype both, types[2] = { MPI_INT, MPI_DOUBLE };
    int lengths[2] = { 3, 1 };
    MPI_Aint places[2];
    MPI_Pack(sent, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&value, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Get_address(got, &places[0]);
    MPI_Get_address(&got_value, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &both);
    MPI_Type_commit(&both);
    MPI_Sendrecv(buffer, position, MPI_PACKED, right_neighbour(), 1, MPI_BOTTOM, 1, both, left_neighbour(), 1,
                 MPI_COMM_WORLD, &status);
    CHECK(status_count(&status, both) == 1 && got[2] == 9 && got_value == 0.5, "MPI-5.0 §5.2");
    memset(buffer, 0, sizeof buffer);
    got[0] = 70, got_value = 1.5;
    MPI_Sendrecv(MPI_BOTTOM, 1, both, right_neighbour(), 2, buffer, sizeof buffer, MPI_PACKED, left_neighbour(), 2,
                 MPI_COMM_WORLD, &status);
    int bytes = status_count(&status, MPI_PACKED), first[3];
    position = 0;
    MPI_Unpack(buffer, bytes, &position, first, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, bytes, &position, &value, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(first[0] == 70 && first[1] == 8 && value == 1.5 && position == bytes, "MPI-5.0 §5.2");
    MPI_Type_free(&both);
}

/* Packing where something was packed, again: the position says where. */
static void large_form(void)
{
    enum { MANY = 100000 };
    double *data = need(2 * MANY * sizeof *data), *got = need(MANY * sizeof *got);
    MPI_Count size = 0, position = 0;
    MPI_Datatype columns;
    for (int i = 0; i < 2 * MANY; i++)
        data[i] = i;
    MPI_Type_vector_c(MANY, 1, 2, MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    MPI_Pack_size_c(1, columns, MPI_COMM_SELF, &size);
    unsigned char *buffer = need((size_t)size + 8);
    position = 8;
    MPI_Pack_c(data, 1, columns, buffer, size + 8, &position, MPI_COMM_SELF);
    MPI_Count end = position;
    position = 8;
    MPI_Unpack_c(buffer, end, &position, got, MANY, MPI_DOUBLE, MPI_COMM_SELF);
    CHECK_EQUAL(position, end, "MPI-5.0 §5.2");
    for (int i = 0; i < MANY; i++)
        CHECK(got[i] == 2 * i, "MPI-5.0 §5.2");
    memset(data, 0, 2 * MANY * sizeof *data);
    position = 8;
    MPI_Unpack_c(buffer, end, &position, data, 1, columns, MPI_COMM_SELF);
    for (int i = 0; i < MANY; i++)
        CHECK(data[2 * i] == 2 * i && data[2 * i + 1] == 0, "MPI-5.0 §5.2");
    MPI_Type_free(&columns);
    free(buffer);
    free(data);
    free(got);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "packing");
    units();
    messages();
    large_form();
    return check_finish();
}
