/* MPI-5.0 §6.14, §15.3.7: a rank that all others wait for, and that comes late, leaves nothing behind. Each kind of
 * operation has a communicator and, where it blocks, a thread of its own, so that all wait through one pause. The
 * others wait for so long that they ask the late one, whose part is over when it hears of it: what it then says may
 * meet no receive, and stays nowhere.
 * ranks: 2,4 */
#include "check_tools.h"

#include <pthread.h>
#include <time.h>

/* A process asks after a quarter of a second. */
#define LATE_MS 400

static int late, first[4], second[16], room[16];

typedef void operation(MPI_Comm comm);

static void bcast(MPI_Comm comm)
{
    int value[4] = {0};
    if (rank_of_world == late)
        memcpy(value, (int[4]){4, 5, 6, 7}, sizeof value);
    MPI_Bcast(value, 4, MPI_INT, late, comm);
    CHECK_EQUAL(value[3], 7, "MPI-5.0 §6.4");
}

static void reduce(MPI_Comm comm)
{
    int one = 1, sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    CHECK(rank_of_world != 0 || sum == size_of_world, "MPI-5.0 §6.9.1");
}

static void gather(MPI_Comm comm)
{
    int all[16] = {0}, own = rank_of_world + 1;
    MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    CHECK(rank_of_world != 0 || all[late] == late + 1, "MPI-5.0 §6.5");
}

static void scatter(MPI_Comm comm)
{
    int all[16], own = 0;
    for (int i = 0; i < 16; i++)
        all[i] = i + 1;
    MPI_Scatter(all, 1, MPI_INT, &own, 1, MPI_INT, late, comm);
    CHECK_EQUAL(own, rank_of_world + 1, "MPI-5.0 §6.6");
}

static void barrier(MPI_Comm comm) { MPI_Barrier(comm); }

static void allreduce(MPI_Comm comm)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size_of_world, "MPI-5.0 §6.9.6");
}

static void scan(MPI_Comm comm)
{
    int one = 1, sum = 0;
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, rank_of_world + 1, "MPI-5.0 §6.11.1");
}

/* The late one is alone in its group. */
static void bcast_between(MPI_Comm comm)
{
    int value = rank_of_world == late ? 9 : 0;
    MPI_Bcast(&value, 1, MPI_INT, rank_of_world == late ? MPI_ROOT : 0, comm);
    CHECK_EQUAL(value, 9, "MPI-5.0 §6.4");
}

/* What does not block: begun one after the other, and waited for together. A persistent one shares its tag with its
 * next start. */
static void begun(MPI_Comm comm)
{
    MPI_Request requests[6];
    int one = 1;
    for (int start = 0; start < 2; start++) {
        MPI_Ibcast(first, 4, MPI_INT, late, comm, &requests[0]);
        MPI_Ireduce(&one, &second[0], 1, MPI_INT, MPI_SUM, 0, comm, &requests[1]);
        MPI_Igather(&one, 1, MPI_INT, room, 1, MPI_INT, 0, comm, &requests[2]);
        MPI_Ibarrier(comm, &requests[3]);
        MPI_Iallreduce(&one, &second[1], 1, MPI_INT, MPI_SUM, comm, &requests[4]);
        if (start == 0)
            MPI_Bcast_init(&second[2], 1, MPI_INT, late, comm, MPI_INFO_NULL, &requests[5]);
        MPI_Start(&requests[5]);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
        CHECK_EQUAL(second[1], size_of_world, "MPI-5.0 §6.12");
    }
    MPI_Request_free(&requests[5]);
}

static operation *const operations[] = {bcast, reduce, gather, scatter, barrier, allreduce, scan, bcast_between, begun};
enum { OPERATIONS = sizeof operations / sizeof *operations };
static MPI_Comm comms[OPERATIONS];

static void *go_through(void *number)
{
    operations[(intptr_t)number](comms[(intptr_t)number]);
    return NULL;
}

static void make_communicators(void)
{
    for (int i = 0; i < OPERATIONS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm part, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world == late, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank_of_world == late ? 0 : late, 1, &between);
    MPI_Comm_free(&part);
    for (int i = 0; i < OPERATIONS; i++)
        if (operations[i] == bcast_between) {
            MPI_Comm_free(&comms[i]);
            comms[i] = between;
        }
}

static void come(int late_ms)
{
    pthread_t threads[OPERATIONS];
    if (rank_of_world == late)
        nanosleep(&(struct timespec){0, late_ms * 1000000L}, NULL);
    for (intptr_t i = 0; i < OPERATIONS; i++) {
        if (rank_of_world == late)
            go_through((void *)i);
        else
            CHECK(pthread_create(&threads[i], NULL, go_through, (void *)i) == 0, "");
    }
    for (int i = 0; i < OPERATIONS && rank_of_world != late; i++)
        pthread_join(threads[i], NULL);
}

/* The late one hears all that it was asked, and what it says to that is ahead of the barrier. */
static void hear(MPI_Comm comm)
{
    for (int turn = 0, flag; turn < 100; turn++)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

/* One after the other, so that nothing else is under way while a rank looks. */
static void check_that_nothing_is_left(void)
{
    MPI_T_pvar_session session;
    int provided, token = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle unexpected = variable(session, "weft_unexpected_length");
    for (int round = 0; round < 2; round++) {
        if (rank_of_world > 0)
            MPI_Recv(&token, 1, MPI_INT, rank_of_world - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round == 0)
            CHECK_EQUAL(value_of(session, unexpected), 0, "MPI-5.0 §6.14");
        MPI_Send(&token, 1, MPI_INT, right_neighbour(), 0, MPI_COMM_WORLD);
        if (rank_of_world == 0)
            MPI_Recv(&token, 1, MPI_INT, left_neighbour(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_T_pvar_handle_free(session, &unexpected);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "late_roots");
    late = size_of_world - 1;
    make_communicators();
    come(0); /* From here on messages have their links, and nothing is heard while one is made. */
    come(LATE_MS);
    for (int i = 0; i < OPERATIONS; i++)
        hear(comms[i]);
    check_that_nothing_is_left();
    for (int i = 0; i < OPERATIONS; i++)
        MPI_Comm_free(&comms[i]);
    return check_finish();
}
