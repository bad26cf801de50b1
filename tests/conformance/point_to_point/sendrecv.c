/* MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms. */
#include "check.h"

static const int sizes[] = { 0, 1, 8, 41, 4096, 8193, 65537, 600000, 3000000 };

static void both(int bytes, int nonblocking)
{
    /* The two halves may differ in size, type and partner. */
    int incoming = bytes + left_neighbour(), outgoing = bytes + rank_of_world;
    unsigned char *out = need((size_t)outgoing), *in = need((size_t)incoming);
    MPI_Status status;
    fill_pattern(out, (size_t)outgoing, (unsigned)rank_of_world);
    if (nonblocking) {
        MPI_Request request;
        MPI_Isendrecv(out, outgoing, MPI_BYTE, right_neighbour(), 4, in, incoming, MPI_BYTE,
                      left_neighbour(), 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv(out, outgoing, MPI_BYTE, right_neighbour(), 4, in, incoming, MPI_BYTE,
                     left_neighbour(), 4, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == left_neighbour() && status.MPI_TAG == 4, "MPI-5.0 §3.10");
        CHECK_EQUAL(status_count(&status, MPI_BYTE), incoming, "MPI-5.0 §3.10");
    }
    CHECK(has_pattern(in, (size_t)incoming, (unsigned)left_neighbour()), "MPI-5.0 §3.10");
    free(out);
    free(in);
}

static void replace(int bytes, int nonblocking)
{
    unsigned char *buffer = need((size_t)bytes);
    MPI_Status status;
    fill_pattern(buffer, (size_t)bytes, (unsigned)rank_of_world);
    if (nonblocking) {
        MPI_Request request;
        MPI_Isendrecv_replace(buffer, bytes, MPI_BYTE, right_neighbour(), 5, MPI_ANY_SOURCE, MPI_ANY_TAG,
                              MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, right_neighbour(), 5, MPI_ANY_SOURCE, MPI_ANY_TAG,
                             MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == left_neighbour() && status.MPI_TAG == 5, "MPI-5.0 §3.10");
    }
    CHECK(has_pattern(buffer, (size_t)bytes, (unsigned)left_neighbour()), "MPI-5.0 §3.10");
    free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A strided type: replace exchanges the selected elements and leaves the others alone. */
static void replace_vector(void)
{
    int values[60];
    MPI_Datatype type;
    MPI_Type_vector(20, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 60; i++)
        values[i] = 1000 * rank_of_world + i;
    MPI_Sendrecv_replace(values, 1, type, right_neighbour(), 6, left_neighbour(), 6, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < 60; i++)
        CHECK_EQUAL(values[i], 1000 * (i % 3 ? rank_of_world : left_neighbour()) + i, "MPI-5.0 §3.10");
    MPI_Type_free(&type);
}

/* The halves meet ordinary sends and receives. */
static void meets_ordinary(void)
{
    int out = rank_of_world, in = -1;
    MPI_Request request;
    if (rank_of_world % 2 == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, partner(), 7, &in, 1, MPI_INT, partner(), 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Isend(&out, 1, MPI_INT, partner(), 7, MPI_COMM_WORLD, &request);
        MPI_Recv(&in, 1, MPI_INT, partner(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(in, partner(), "MPI-5.0 §3.10: matches ordinary point-to-point");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "sendrecv");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
            both(sizes[s], nonblocking);
            replace(sizes[s], nonblocking);
        }
    replace_vector();
    meets_ordinary();
    return check_finish();
}
