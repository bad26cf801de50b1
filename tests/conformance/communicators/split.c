/* MPI_Comm_split: colors, keys, ties, MPI_UNDEFINED; MPI_Comm_split_type for shared memory. */
#include "check.h"

/* Where the world's rank r stands when colors and keys are functions of the rank. */
static int expected_place(int r, int (*color)(int), int (*key)(int), int *size)
{
    int before = 0;
    *size = 0;
    for (int other = 0; other < size_of_world; other++)
        if (color(other) == color(r)) {
            (*size)++;
            before += key(other) < key(r) || (key(other) == key(r) && other < r);
        }
    return before;
}

static int zero(int r) { (void)r; return 0; }
static int own(int r) { return r; }
static int negative(int r) { return -r; }
static int parity(int r) { return r % 2; }
static int thirds(int r) { return r / 3; }
static int large(int r) { return r == 0 ? 2147483647 : r == 1 ? -2147483647 - 1 : r; }
static int tied(int r) { return -(r / 2); }

static void by(int (*color)(int), int (*key)(int))
{
    MPI_Comm comm;
    int rank = -1, size = -1, expected_size = -1, sum = -1, one = 1;
    MPI_Comm_split(MPI_COMM_WORLD, color(rank_of_world), key(rank_of_world), &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_EQUAL(rank, expected_place(rank_of_world, color, key, &expected_size), "MPI-5.0 §7.4.2");
    CHECK_EQUAL(size, expected_size, "MPI-5.0 §7.4.2");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size, "MPI-5.0 §7.4.2");
    /* A message to each rank names its world rank: the ranks mean what the group says. */
    MPI_Group group, world;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int next = (rank + 1) % size, from = -1, in_world = -1, previous = (rank + size - 1) % size;
    MPI_Sendrecv(&rank_of_world, 1, MPI_INT, next, 0, &from, 1, MPI_INT, previous, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Group_translate_ranks(group, 1, &previous, world, &in_world);
    CHECK_EQUAL(from, in_world, "MPI-5.0 §7.4.2");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&comm);
}

static void undefined(void)
{
    MPI_Comm comm;
    int size = -1, evens = (size_of_world + 1) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world % 2 ? MPI_UNDEFINED : 5, 0, &comm);
    if (rank_of_world % 2) {
        CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.2: MPI_UNDEFINED");
    } else {
        MPI_Comm_size(comm, &size);
        CHECK_EQUAL(size, evens, "MPI-5.0 §7.4.2");
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm);
    CHECK(comm == MPI_COMM_NULL, "MPI-5.0 §7.4.2: every rank undefined");
}

/* Ranks started on one machine share memory; ranks are ordered by key. */
static void shared(void)
{
    MPI_Comm comm;
    int rank = -1, size = -1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank_of_world, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(size >= 1 && size <= size_of_world, "MPI-5.0 §7.4.2");
    int previous_world = -1, out = rank_of_world;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank > 0)
        MPI_Irecv(&previous_world, 1, MPI_INT, rank - 1, 0, comm, &request);
    if (rank + 1 < size)
        MPI_Send(&out, 1, MPI_INT, rank + 1, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(rank == 0 || previous_world > rank_of_world, "MPI-5.0 §7.4.2: ordered by key");
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, rank_of_world ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0,
                        MPI_INFO_NULL, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank_of_world == 0), "MPI-5.0 §7.4.2");
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

/* Splits of splits: half by half down to single ranks. */
static void recursive(void)
{
    MPI_Comm comm, half;
    int rank, size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (MPI_Comm_size(comm, &size); size > 1; MPI_Comm_size(comm, &size)) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_split(comm, rank < size / 2, rank, &half);
        int half_size;
        MPI_Comm_size(half, &half_size);
        CHECK_EQUAL(half_size, rank < size / 2 ? size / 2 : size - size / 2, "MPI-5.0 §7.4.2");
        MPI_Comm_free(&comm);
        comm = half;
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int (*const colors[])(int) = { zero, parity, thirds, own };
    int (*const keys[])(int) = { zero, own, negative, large, tied };
    check_start(&argc, &argv, "split");
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < 5; k++)
            by(colors[c], keys[k]);
    undefined();
    shared();
    recursive();
    return check_finish();
}
