/* ranks: 2
 * A buffered send is local (MPI-5.0 §3.6), also while another thread's makes progress for want of room, and with it runs a
 * reduction function of the program's, for however long that takes. */
#include "team.h"
#include <unistd.h>

enum { LENGTH = 1 << 20, SECONDS = 5, FULL = 1, FREE = 2, GO = 3 };
static char data[LENGTH], space[LENGTH + MPI_BSEND_OVERHEAD], other_space[LENGTH + MPI_BSEND_OVERHEAD];
static MPI_Comm full, free_one;
static _Atomic int runs, sent;

/* On rank 0: until the other thread has sent. */
static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    if (rank_of_world != 0)
        return;
    runs = 1;
    for (int waited = 0; !sent && waited < SECONDS * 1000; waited++)
        usleep(1000);
}

static void *send_beside(void *argument)
{
    (void)argument;
    while (!runs)
        usleep(100);
    MPI_Bsend(data, 100, MPI_BYTE, 1, FREE, free_one);
    sent = 1;
    return NULL;
}

static void sender(MPI_Request *sum)
{
    pthread_t beside;
    int flag;
    MPI_Comm_set_errhandler(full, MPI_ERRORS_RETURN);
    MPI_Comm_attach_buffer(full, space, sizeof space);
    MPI_Comm_attach_buffer(free_one, other_space, sizeof other_space);
    MPI_Bsend(data, LENGTH, MPI_BYTE, 1, FULL, full);
    MPI_Send(&flag, 0, MPI_INT, 1, GO, MPI_COMM_WORLD);
    usleep(800000); /* the other's part of the sum comes, and no call of this process takes it */
    CHECK(pthread_create(&beside, NULL, send_beside, NULL) == 0, "a thread");
    CHECK_CLASS(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, FULL, full), MPI_ERR_BUFFER, "MPI-5.0 §3.6.1");
    CHECK(runs, "the send has made progress");
    CHECK(sent, "MPI-5.0 §3.6", "a buffered send waited for another one's reduction function");
    pthread_join(beside, NULL);
    MPI_Wait(sum, MPI_STATUS_IGNORE);
    MPI_Send(&flag, 0, MPI_INT, 1, GO, MPI_COMM_WORLD);
    MPI_Comm_flush_buffer(full);
    MPI_Comm_flush_buffer(free_one);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Request sum;
    int one = 1, both = 0;
    check_start_threads(&argc, &argv, "buffered_during_progress");
    MPI_Comm_dup(MPI_COMM_WORLD, &full);
    MPI_Comm_dup(MPI_COMM_WORLD, &free_one);
    MPI_Op_create(add, 1, &op);
    if (rank_of_world == 1)
        MPI_Recv(&both, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&one, &both, 1, MPI_INT, op, MPI_COMM_WORLD, &sum);
    if (rank_of_world == 0) {
        sender(&sum);
    } else {
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
        MPI_Recv(&one, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, LENGTH, MPI_BYTE, 0, FULL, full, MPI_STATUS_IGNORE);
        MPI_Recv(data, LENGTH, MPI_BYTE, 0, FREE, free_one, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(both, 2, "MPI-5.0 §6.9");
    MPI_Op_free(&op);
    MPI_Comm_free(&full);
    MPI_Comm_free(&free_one);
    return check_finish();
}
