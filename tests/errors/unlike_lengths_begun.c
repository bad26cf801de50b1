/* Nonblocking and persistent collective operations whose lengths differ so much that the processes move them in different ways, which is erroneous
 * (MPI-5.0 §6.4 to §6.9, §6.12, §6.13). No process waits for ever, in a wait or polling; each error is MPI_ERR_TRUNCATE; and what was begun beside
 * them or comes after them is right.
 * ranks: 2,3,4,5 */
#include "expect.h"

enum { MOST = 1 << 16, PAIRS = 3 };

static int rank, size, last;
static int from[MOST];

enum { BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLTOALL, OPERATIONS };
static const char *const names[] = {"bcast", "reduce", "allreduce", "gather", "scatter", "alltoall"};

enum { WAITED, POLLED, PERSISTENT, FORMS };
static const char *const forms[] = {"nonblocking", "polled", "persistent"};

static MPI_Request begin(int operation, int count, int *into, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    switch (operation) {
    case BCAST:
        MPI_Ibcast(into, count, MPI_INT, 0, comm, &request);
        break;
    case REDUCE:
        MPI_Ireduce(from, into, count, MPI_INT, MPI_SUM, 0, comm, &request);
        break;
    case ALLREDUCE:
        MPI_Iallreduce(from, into, count, MPI_INT, MPI_SUM, comm, &request);
        break;
    case GATHER:
        MPI_Igather(from, count, MPI_INT, into, count, MPI_INT, 0, comm, &request);
        break;
    case SCATTER:
        MPI_Iscatter(from, count, MPI_INT, into, count, MPI_INT, 0, comm, &request);
        break;
    case ALLTOALL:
        MPI_Ialltoall(from, count, MPI_INT, into, count, MPI_INT, comm, &request);
        break;
    }
    return request;
}

static MPI_Request prepare(int operation, int count, int *into, MPI_Comm comm)
{
    MPI_Info none = MPI_INFO_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (operation) {
    case BCAST:
        MPI_Bcast_init(into, count, MPI_INT, 0, comm, none, &request);
        break;
    case REDUCE:
        MPI_Reduce_init(from, into, count, MPI_INT, MPI_SUM, 0, comm, none, &request);
        break;
    case ALLREDUCE:
        MPI_Allreduce_init(from, into, count, MPI_INT, MPI_SUM, comm, none, &request);
        break;
    case GATHER:
        MPI_Gather_init(from, count, MPI_INT, into, count, MPI_INT, 0, comm, none, &request);
        break;
    case SCATTER:
        MPI_Scatter_init(from, count, MPI_INT, into, count, MPI_INT, 0, comm, none, &request);
        break;
    case ALLTOALL:
        MPI_Alltoall_init(from, count, MPI_INT, into, count, MPI_INT, comm, none, &request);
        break;
    }
    return request;
}

/* The class that completing the request gives. */
static int end(MPI_Request *request, int form)
{
    int class = MPI_SUCCESS, is_over = 0;
    if (form != POLLED)
        return RESULT_OF(MPI_Wait(request, MPI_STATUS_IGNORE));
    while (!is_over && class == MPI_SUCCESS)
        class = RESULT_OF(MPI_Test(request, &is_over, MPI_STATUS_IGNORE));
    return class;
}

/* One of lengths that are alike, begun and still to be ended. */
struct beside {
    int one, sum;
    MPI_Request request;
};

static void begin_beside(struct beside *beside, MPI_Comm comm)
{
    *beside = (struct beside){.one = rank + 1, .sum = -1};
    MPI_Iallreduce(&beside->one, &beside->sum, 1, MPI_INT, MPI_SUM, comm, &beside->request);
}

static void end_beside(struct beside *beside)
{
    EXPECT(MPI_SUCCESS, MPI_Wait(&beside->request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(beside->sum, size * (size + 1) / 2, "MPI-5.0 §6.12");
}

/* One whose length differs on the last rank, with a communicator and memory of its own. */
struct apart {
    int operation, count, odd;
    MPI_Comm comm;
    MPI_Request request;
    struct beside beside;
    int into[MOST];
};

static void begin_apart(struct apart *apart, int form)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &apart->comm);
    return_errors(apart->comm);
    int own = rank == last ? apart->odd : apart->count;
    if (form == PERSISTENT) {
        apart->request = prepare(apart->operation, own, apart->into, apart->comm);
        begin_beside(&apart->beside, apart->comm);
        EXPECT(MPI_SUCCESS, MPI_Start(&apart->request));
    } else {
        apart->request = begin(apart->operation, own, apart->into, apart->comm);
        begin_beside(&apart->beside, apart->comm);
    }
}

static void end_apart(struct apart *apart, int form)
{
    int class = end(&apart->request, form);
    if (form == PERSISTENT)
        EXPECT(MPI_SUCCESS, MPI_Request_free(&apart->request));
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "MPI-5.0 §6.12", "a %s %s of %d and %d gave class %d", forms[form],
          names[apart->operation], apart->count, apart->odd, class);
    end_beside(&apart->beside);
    begin_beside(&apart->beside, apart->comm);
    end_beside(&apart->beside);
    MPI_Comm_free(&apart->comm);
}

/* All of a form are begun before the first is ended, so that what they wait before they ask passes once. */
static void all_of(int form)
{
    static const int pairs[PAIRS][2] = {{12000, 100}, {10, 12000}, {0, 10}};
    static struct apart all[OPERATIONS][PAIRS];
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int i = 0; i < PAIRS; i++) {
            all[operation][i].operation = operation;
            all[operation][i].count = pairs[i][0];
            all[operation][i].odd = pairs[i][1];
            begin_apart(&all[operation][i], form);
        }
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int i = 0; i < PAIRS; i++)
            end_apart(&all[operation][i], form);
}

/* Starts of a persistent operation whose lengths are alike, of which the last rank makes each late: it is waited for. */
static void late(void)
{
    enum { STARTS = 3 };
    int one = 0, sum;
    MPI_Request request;
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 0; start < STARTS; start++) {
        one = rank + start;
        double began = MPI_Wtime();
        int none;
        /* It answers meanwhile. */
        while (rank == last && MPI_Wtime() < began + 0.5)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &none, MPI_STATUS_IGNORE);
        EXPECT(MPI_SUCCESS, MPI_Start(&request));
        EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(sum, size * (size - 1) / 2 + size * start, "MPI-5.0 §6.13");
    }
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "unlike_lengths_begun");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    for (int form = 0; form < FORMS; form++)
        all_of(form);
    late();
    return expect_finish();
}
