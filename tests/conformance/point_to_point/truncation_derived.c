/* Messages longer than a receive of a derived type, and shorter: only the type's places are written, and the error is
 * MPI_ERR_TRUNCATE: MPI-5.0 §3.2.4, §5.1.11. Short, in several packets, and in bulk. */
#include "check.h"

enum { UNTOUCHED = -9 };

static void receive(int sent, int room)
{
    int *data = need((size_t)sent * sizeof *data), *spread = need((size_t)(3 * room + 4) * sizeof *spread);
    MPI_Datatype columns;
    MPI_Status status;
    MPI_Request request;
    int elements = -1;
    for (int i = 0; i < sent; i++)
        data[i] = i;
    for (int i = 0; i < 3 * room + 4; i++)
        spread[i] = UNTOUCHED;
    MPI_Type_vector(room, 1, 3, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    MPI_Isend(data, sent, MPI_INT, right_neighbour(), 0, MPI_COMM_WORLD, &request);
    int code = MPI_Recv(spread, 1, columns, left_neighbour(), 0, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sent > room) {
        CHECK_EQUAL(class_of(code), MPI_ERR_TRUNCATE, "MPI-5.0 §3.2.4");
    } else {
        CHECK_EQUAL(code, MPI_SUCCESS, "MPI-5.0 §3.2.4");
        MPI_Get_elements(&status, columns, &elements);
        CHECK_EQUAL(elements, sent, "MPI-5.0 §5.1.12");
        CHECK_EQUAL(status_count(&status, columns), sent == room ? 1 : sent ? MPI_UNDEFINED : 0, "MPI-5.0 §3.2.5");
    }
    for (int i = 0; i < 3 * room + 4; i++) {
        int arrived = i % 3 == 0 && i / 3 < room && i / 3 < sent;
        /* What a truncated receive leaves in its places is not said. */
        if (sent <= room || i % 3 != 0 || i / 3 >= room)
            CHECK_EQUAL(spread[i], arrived ? i / 3 : UNTOUCHED, "MPI-5.0 §5.1.11: nothing else is written");
    }
    MPI_Type_free(&columns);
    free(data);
    free(spread);
}

int main(int argc, char **argv)
{
    const int rooms[] = { 5, 700, 5000, 300000 };
    check_start(&argc, &argv, "truncation_derived");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        receive(rooms[i], rooms[i]);
        receive(rooms[i] - 1, rooms[i]);
        receive(rooms[i] / 3, rooms[i]);
        receive(0, rooms[i]);
        receive(rooms[i] + 1, rooms[i]);
        receive(3 * rooms[i], rooms[i]);
    }
    return check_finish();
}
