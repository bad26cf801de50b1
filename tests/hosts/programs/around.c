/* around: messages of all sizes around the ring in every mode, then truncation, any source and probes. */
#include "check.h"

static unsigned char *out, *in;

enum { ISEND, SSEND, RECEIVER_LATE, SENDRECV, PERSISTENT, MODES };

static void one_step(int mode, int bytes)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, tag = mode * 100 + bytes % 97;
    MPI_Request request, other;
    MPI_Status status;
    int count;
    fill(out, (size_t)bytes, rank, mode);
    memset(in, 0xee, (size_t)bytes + 1);
    switch (mode) {
    case ISEND:
        MPI_Irecv(in, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request);
        MPI_Isend(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, &other);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        MPI_Wait(&request, &status);
        break;
    case SSEND:
        MPI_Irecv(in, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request);
        MPI_Ssend(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        break;
    case RECEIVER_LATE:
        MPI_Isend(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, &other);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, &status);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        break;
    case SENDRECV:
        MPI_Sendrecv(out, bytes, MPI_BYTE, right, tag, in, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, &status);
        break;
    default:
        MPI_Recv_init(in, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request);
        MPI_Send_init(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, &other);
        for (int times = 0; times < 2; times++) {
            MPI_Start(&request);
            MPI_Start(&other);
            MPI_Wait(&other, MPI_STATUS_IGNORE);
            MPI_Wait(&request, &status);
        }
        MPI_Request_free(&request);
        MPI_Request_free(&other);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    REQUIRE(count == bytes && status.MPI_SOURCE == left && status.MPI_TAG == tag);
    REQUIRE(holds(in, (size_t)bytes, left, mode) && in[bytes] == 0xee);
}

/* MPI-5.0 §3.2.4: an error, and nothing behind the buffer. */
static void truncation(int bytes)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, room = bytes / 2, class, code;
    MPI_Request request;
    fill(out, (size_t)bytes, rank, 7);
    memset(in, 0xee, (size_t)bytes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(out, bytes, MPI_BYTE, right, 7, MPI_COMM_WORLD, &request);
    code = MPI_Recv(in, room, MPI_BYTE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    REQUIRE(class == MPI_ERR_TRUNCATE);
    for (int i = room; i < bytes; i++)
        REQUIRE(in[i] == 0xee);
    /* MPI-5.0 does not promise that the sender hears nothing of it. */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank sends ROUNDS messages to rank 0, which takes them from anyone; those of one sender come in order. */
static void any_source(int bytes)
{
    enum { ROUNDS = 10 };
    if (rank != 0) {
        for (int i = 0; i < ROUNDS; i++) {
            fill(out, (size_t)bytes, rank, i);
            MPI_Send(out, bytes, MPI_BYTE, 0, 11, MPI_COMM_WORLD);
        }
    } else {
        int *next = calloc((size_t)size, sizeof *next);
        for (int i = 0; i < ROUNDS * (size - 1); i++) {
            MPI_Status status;
            MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            REQUIRE(status.MPI_TAG == 11 && holds(in, (size_t)bytes, status.MPI_SOURCE, next[status.MPI_SOURCE]++));
        }
        for (int peer = 1; peer < size; peer++)
            REQUIRE(next[peer] == ROUNDS);
        free(next);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void probes(int bytes)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, flag = 0, count;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    fill(out, (size_t)bytes, rank, 9);
    for (int kind = 0; kind < 4; kind++) {
        MPI_Isend(out, bytes, MPI_BYTE, right, 20 + kind, MPI_COMM_WORLD, &request);
        if (kind == 0)
            MPI_Probe(left, 20, MPI_COMM_WORLD, &status);
        else if (kind == 1)
            for (flag = 0; !flag;)
                MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        else if (kind == 2)
            MPI_Mprobe(MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &message, &status);
        else
            for (flag = 0; !flag;)
                MPI_Improbe(left, 23, MPI_COMM_WORLD, &flag, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        REQUIRE(count == bytes && status.MPI_SOURCE == left && status.MPI_TAG == 20 + kind);
        if (kind < 2)
            MPI_Recv(in, bytes, MPI_BYTE, left, 20 + kind, MPI_COMM_WORLD, &status);
        else
            MPI_Mrecv(in, bytes, MPI_BYTE, &message, &status);
        REQUIRE(holds(in, (size_t)bytes, left, 9));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int count, char **words)
{
    begin(&count, &words);
    out = memory(LARGEST), in = memory(LARGEST + 1);
    for (int mode = 0; mode < MODES; mode++)
        for (int i = 0; i < SIZES_COUNT; i++)
            one_step(mode, SIZES[i]);
    for (int bytes = 64; bytes <= 1 << 20; bytes *= 16)
        truncation(bytes);
    for (int bytes = 8; bytes <= 1 << 17; bytes *= 128)
        any_source(bytes);
    for (int bytes = 8; bytes <= 1 << 20; bytes *= 128)
        probes(bytes);
    free(out), free(in);
    end("around");
    return 0;
}
