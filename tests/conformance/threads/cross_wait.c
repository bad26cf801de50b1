/* Threads and communicators that wait crosswise: a wait for one communicator's operation has to drive the
 * other's too, or legal programs deadlock (the progress rule, MPI-5.0 §3.5 and §3.7.4; Zambre 2020 fig. 9). */
#include "team.h"

enum { LARGE = 300000 };

static MPI_Comm first, second;
static unsigned char *large_out, *large_in;

/* One thread a rank: a large send on the first communicator has to advance while the rank blocks in a
 * receive on the second, because its partner answers only after the large message. */
static void one_thread(void)
{
    int answer = 1, got = 0;
    MPI_Request send, receive;
    MPI_Irecv(large_in, LARGE, MPI_BYTE, partner(), 1, first, &receive);
    MPI_Isend(large_out, LARGE, MPI_BYTE, partner(), 1, first, &send);
    if (rank_of_world < partner()) {
        MPI_Recv(&got, 1, MPI_INT, partner(), 2, second, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    } else if (rank_of_world > partner()) {
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Send(&answer, 1, MPI_INT, partner(), 2, second);
    } else {
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(has_pattern(large_in, LARGE, 5), "MPI-5.0 §3.5: progress");
}

/* What a thread sends is there until another one has waited for it. */
static int sent[2];
static MPI_Request posted[2];
static pthread_barrier_t both_posted;

/* Two threads post on two communicators, then each waits for the other's request. */
static void *crosswise(void *argument)
{
    int me = *(int *)argument;
    MPI_Comm comm = me ? second : first;
    int in = -1;
    sent[me] = 100 + me;
    MPI_Issend(&sent[me], 1, MPI_INT, partner(), 3, comm, &posted[me]);
    pthread_barrier_wait(&both_posted);
    MPI_Request *others = &posted[!me];
    if (rank_of_world < partner()) {
        /* The partner receives the second communicator's message first, so that thread 0, which waits for
         * it, ends first; thread 1 then receives. */
        MPI_Wait(others, MPI_STATUS_IGNORE);
        MPI_Recv(&in, 1, MPI_INT, partner(), 3, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&in, 1, MPI_INT, partner(), 3, comm, MPI_STATUS_IGNORE);
        MPI_Wait(others, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(in, 100 + me, "MPI-5.0 §11.6");
    return NULL;
}

static void two_threads(void)
{
    pthread_t thread;
    int zero = 0, one = 1;
    pthread_barrier_init(&both_posted, NULL, 2);
    pthread_create(&thread, NULL, crosswise, &one);
    crosswise(&zero);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&both_posted);
}

/* A thread blocks on the first communicator until a chain through the second has reached everyone. */
static void *blocked(void *unused)
{
    int got = -1;
    (void)unused;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, first, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 1234, "MPI-5.0 §11.6: a blocked thread does not block the others");
    return NULL;
}

static void others_go_on(void)
{
    pthread_t thread;
    int release = 1234, sum = -1, one = 1;
    pthread_create(&thread, NULL, blocked, NULL);
    for (int round = 0; round < 30; round++) {
        int value = round, got = -1;
        MPI_Sendrecv(&value, 1, MPI_INT, right_neighbour(), 5, &got, 1, MPI_INT, left_neighbour(), 5,
                     second, MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, round, "MPI-5.0 §11.6");
        MPI_Sendrecv(&value, 1, MPI_INT, right_neighbour(), 5, &got, 1, MPI_INT, left_neighbour(), 5,
                     first, MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, round, "MPI-5.0 §11.6");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, second);
        CHECK_EQUAL(sum, size_of_world, "MPI-5.0 §11.6");
    }
    MPI_Send(&release, 1, MPI_INT, right_neighbour(), 4, first);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "cross_wait");
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    large_out = need(LARGE);
    large_in = need(LARGE);
    fill_pattern(large_out, LARGE, 5);
    for (int round = 0; round < 20; round++) {
        one_thread();
        if (partner() != rank_of_world)
            two_threads();
    }
    others_go_on();
    free(large_out);
    free(large_in);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    return check_finish();
}
