/* Blocking collective operations whose lengths are not alike, which is erroneous (MPI-5.0 §6.4 to §6.8): a longer message than
 * there is room for is MPI_ERR_TRUNCATE where it is received, a shorter one changes nothing beyond its end, and no lengths make
 * anyone crash, or wait for ever. From the eighth operation on a communicator's go through shared memory, so each is first made
 * to have some. Where it says which process is told, all share memory; elsewhere messages are passed on in other ways, of which any may find it.
 * ranks: 2,3,4,5 */
#include "expect.h"

enum { MOST = 1 << 15, GUARD = 64 };

static int rank, size, last;
/* Whether all share memory. */
static int shares;
static int from[(MOST + GUARD) * 5], into[(MOST + GUARD) * 5];

/* Numbers to send, and nothing yet where they go. */
static void prepare(int count)
{
    for (int i = 0; i < (count + GUARD) * size; i++) {
        from[i] = rank + 1;
        into[i] = -1;
    }
}

/* What lies behind the blocks is as it was. */
static void check_guard(int count)
{
    for (int i = 0; i < GUARD; i++)
        CHECK_EQUAL(into[count + i], -1, "MPI-5.0 §6.4");
}

/* The class of what was called, which is success or the one of lengths. */
static void expect(const char *call, int class, int expected, int other)
{
    if (shares)
        CHECK(class == expected || class == other, "MPI-5.0 §6.4", "%s gave class %d, not %d or %d", call, class, expected, other);
    else
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "MPI-5.0 §6.4", "%s gave class %d", call, class);
}

/* The communicator's operations still agree. */
static void check_usable(MPI_Comm comm)
{
    int one = 1, sum = 0;
    int class = RESULT_OF(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    expect("MPI_Allreduce", class, MPI_SUCCESS, MPI_SUCCESS);
    if (class == MPI_SUCCESS)
        CHECK_EQUAL(sum, size, "MPI-5.0 §6.9.6");
}

/* The last rank has `odd` elements, the others `count`; both are moved in the same way. */
static void uneven(int count, int odd)
{
    MPI_Comm comm = used_duplicate();
    int own = rank == last ? odd : count;
    int longer = count > odd;
    int here = rank == last && longer ? MPI_ERR_TRUNCATE : MPI_SUCCESS;

    prepare(own);
    memcpy(into, rank ? into : from, (size_t)own * sizeof *into);
    expect("MPI_Bcast", RESULT_OF(MPI_Bcast(into, own, MPI_INT, 0, comm)), here, here);
    check_guard(own);
    check_usable(comm);

    prepare(own);
    expect("MPI_Scatter", RESULT_OF(MPI_Scatter(from, own, MPI_INT, into, own, MPI_INT, 0, comm)), here, here);
    check_guard(own);
    check_usable(comm);

    /* From here on, the last rank's are received. */
    prepare(own);
    int root = rank == 0 && !longer ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    expect("MPI_Gather", RESULT_OF(MPI_Gather(from, own, MPI_INT, into, own, MPI_INT, 0, comm)), root, root);
    check_guard(own * (rank ? 0 : size));
    check_usable(comm);

    /* Of more than two ranks, where there is a core for each, messages are passed on, cut. */
    here = (rank == last) == longer ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    int other = size == 2 ? here : MPI_SUCCESS;
    prepare(own);
    expect("MPI_Allgather", RESULT_OF(MPI_Allgather(from, own, MPI_INT, into, own, MPI_INT, comm)), here, other);
    check_guard(own * size);
    check_usable(comm);

    prepare(own);
    expect("MPI_Alltoall", RESULT_OF(MPI_Alltoall(from, own, MPI_INT, into, own, MPI_INT, comm)), here, other);
    check_guard(own * size);
    check_usable(comm);
    MPI_Comm_free(&comm);
}

/* The lengths are so unlike that they are moved in different ways, or in unlike numbers of pieces. Then the communicator's
 * operations are errors from there on; not where those of more than two ranks went by messages. */
static void apart(int count, int odd)
{
    MPI_Comm comm = used_duplicate();
    int own = rank == last ? odd : count;
    prepare(own);
    int class = RESULT_OF(MPI_Bcast(into, own, MPI_INT, 0, comm));
    CHECK(class == MPI_ERR_TRUNCATE || (class == MPI_SUCCESS && rank != last), "MPI-5.0 §6.4",
          "a broadcast of unlike lengths gave class %d", class);
    check_guard(own);
    for (int i = 0; i < 3; i++)
        expect("MPI_Barrier", RESULT_OF(MPI_Barrier(comm)), MPI_ERR_TRUNCATE, size == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "uneven_lengths");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    MPI_Comm host;
    int near;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &near);
    MPI_Comm_free(&host);
    shares = near == size && !getenv("WEFT_TRANSPORT");
    /* As many as go over the board among any of these ranks: in messages a rank that has cut one passes its error on. */
    uneven(8, 3);
    uneven(3, 8);
    uneven(2900, 2800);
    uneven(2800, 2900);
    apart(15000, 10);
    return expect_finish();
}
