/* Buffers of a communicator and buffers that the library allocates, in one process. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 3000, MESSAGES = 10 };

static char out[BYTES], in[BYTES];

static void check(int good, int line)
{
    if (!good) {
        fprintf(stderr, "buffers.c:%d\n", line);
        exit(1);
    }
}
#define CHECK(condition) check(condition, __LINE__)

static void send_all(MPI_Comm comm)
{
    for (int i = 0; i < MESSAGES; i++) {
        out[0] = (char)i;
        out[BYTES - 1] = (char)-i;
        CHECK(MPI_Bsend(out, BYTES, MPI_CHAR, 0, 1, comm) == MPI_SUCCESS);
    }
}

static void receive_all(MPI_Comm comm)
{
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(in, BYTES, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
        CHECK(in[0] == (char)i && in[BYTES - 1] == (char)-i);
    }
}

int main(void)
{
    static char memory[MESSAGES * (BYTES + MPI_BSEND_OVERHEAD)], small[BYTES];
    void *got;
    int size, flag;
    MPI_Comm comm;
    MPI_Request flush;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);

    /* The communicator's own buffer goes before that of the process, which is too small. */
    CHECK(MPI_Buffer_attach(small, sizeof small) == MPI_SUCCESS);
    CHECK(MPI_Comm_attach_buffer(comm, memory, sizeof memory) == MPI_SUCCESS);
    CHECK(MPI_Comm_attach_buffer(comm, memory, sizeof memory) == MPI_ERR_BUFFER);
    send_all(comm);
    CHECK(MPI_Bsend(memory, sizeof small + 1, MPI_CHAR, 0, 1, MPI_COMM_SELF) == MPI_ERR_BUFFER);
    CHECK(MPI_Comm_iflush_buffer(comm, &flush) == MPI_SUCCESS);
    MPI_Test(&flush, &flag, MPI_STATUS_IGNORE);
    receive_all(comm);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    CHECK(flush == MPI_REQUEST_NULL);
    MPI_Comm_flush_buffer(comm);
    CHECK(MPI_Comm_detach_buffer(comm, &got, &size) == MPI_SUCCESS);
    CHECK(got == memory && size == sizeof memory);
    CHECK(MPI_Bsend(memory, sizeof small + 1, MPI_CHAR, 0, 1, comm) == MPI_ERR_BUFFER);
    MPI_Buffer_detach(&got, &size);
    CHECK(got == small && size == sizeof small);

    CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    send_all(comm);
    receive_all(comm);
    MPI_Buffer_detach(&got, &size);
    CHECK(got == MPI_BUFFER_AUTOMATIC);

    /* A freed communicator's buffer goes with it, also where another gets its number. */
    MPI_Comm_attach_buffer(comm, memory, sizeof memory);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK(MPI_Bsend(out, BYTES, MPI_CHAR, 0, 1, comm) == MPI_ERR_BUFFER);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
