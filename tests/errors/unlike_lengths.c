/* Blocking collective operations whose lengths differ so much that the processes move them in different ways, which is erroneous (MPI-5.0 §6.4
 * to §6.9): by messages here and through shared memory there, in one round or in several, by way of one process of each host or not.
 * No process waits for ever or is told a wrong result, and each error is MPI_ERR_TRUNCATE.
 * ranks: 2,3,4,5 */
#include "expect.h"

enum { MOST = 1 << 18, GUARD = 16 };

static int rank, size, last;
static int from[MOST + GUARD], into[MOST + GUARD];

/* What happened to all, by rank. */
static int classes[64];

/* A sum of everyone's rank + 1 has no other value where it is no error. */
static void sum_is_right(const char *name, int class, int count)
{
    for (int i = 0; class == MPI_SUCCESS && i < count; i++)
        if (into[i] != size * (size + 1) / 2) {
            CHECK(0, "MPI-5.0 §6.9", "%s of unlike lengths: sum %d is %d", name, i, into[i]);
            return;
        }
    checks_done++;
}

static void blocks_are_right(const char *name, int class, int block, int shortest, int blocks)
{
    for (int source = 0; class == MPI_SUCCESS && source < blocks; source++)
        for (int i = 0; i < shortest; i++)
            if (into[source * block + i] != source + 1) {
                CHECK(0, "MPI-5.0 §6", "%s of unlike lengths: element %d of block %d is %d", name, i, source, into[source * block + i]);
                return;
            }
    checks_done++;
}

enum { BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, SCAN, REDUCE_SCATTER, OPERATIONS };
static const char *const names[] = {"bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "scan", "reduce_scatter"};

/* The class, and what was received is looked at where that is success. */
static int run(int operation, int own, int shortest, MPI_Comm comm)
{
    const char *name = names[operation];
    int class = MPI_SUCCESS;
    switch (operation) {
    case BCAST:
        for (int i = 0; rank == 0 && i < own; i++)
            into[i] = 1;
        class = RESULT_OF(MPI_Bcast(into, own, MPI_INT, 0, comm));
        blocks_are_right(name, class, own, shortest, 1);
        break;
    case REDUCE:
        class = RESULT_OF(MPI_Reduce(from, into, own, MPI_INT, MPI_SUM, 0, comm));
        break;
    case ALLREDUCE:
        class = RESULT_OF(MPI_Allreduce(from, into, own, MPI_INT, MPI_SUM, comm));
        break;
    case GATHER:
        class = RESULT_OF(MPI_Gather(from, own, MPI_INT, into, own, MPI_INT, 0, comm));
        break;
    case SCATTER:
        class = RESULT_OF(MPI_Scatter(from, own, MPI_INT, into, own, MPI_INT, 0, comm));
        break;
    case ALLGATHER:
        class = RESULT_OF(MPI_Allgather(from, own, MPI_INT, into, own, MPI_INT, comm));
        break;
    case ALLTOALL:
        class = RESULT_OF(MPI_Alltoall(from, own, MPI_INT, into, own, MPI_INT, comm));
        break;
    case SCAN:
        class = RESULT_OF(MPI_Scan(from, into, own, MPI_INT, MPI_SUM, comm));
        break;
    case REDUCE_SCATTER:
        class = RESULT_OF(MPI_Reduce_scatter_block(from, into, own, MPI_INT, MPI_SUM, comm));
        break;
    }
    return class;
}

static void apart(int operation, int count, int odd)
{
    MPI_Comm comm = used_duplicate();
    int own = rank == last ? odd : count, shortest = count < odd ? count : odd;
    for (int i = 0; i < MOST + GUARD; i++) {
        from[i] = rank + 1;
        into[i] = -1;
    }
    int class = run(operation, own, shortest, comm);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "MPI-5.0 §6", "%s of %d and %d gave class %d",
          names[operation], count, odd, class);

    /* What comes after it is right, or an error, too. */
    for (int i = 0; i < 3; i++) {
        int one = rank + 1;
        into[0] = -1;
        class = RESULT_OF(MPI_Allreduce(&one, into, 1, MPI_INT, MPI_SUM, comm));
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "MPI-5.0 §6", "allreduce %d after %s of %d and %d gave class %d", i,
              names[operation], count, odd, class);
        sum_is_right(names[operation], class, 1);
    }
    MPI_Gather(&class, 1, MPI_INT, classes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    /* 40 B, 400 B, 12 KB, 20 KB, 60 KB, 200 KB: each moved in another way by some operation. */
    static const int pairs[][2] = {{10, 3000}, {100, 10}, {5000, 10}, {15000, 3000}, {50000, 100}, {0, 10}, {5000, 0}};

    expect_start(&argc, &argv, "unlike_lengths");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            apart(operation, pairs[i][0], pairs[i][1]);
    return expect_finish();
}
