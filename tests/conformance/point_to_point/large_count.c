/* The large-count forms: every point-to-point call that has one, with ordinary counts, with counts that
 * only a vector type of size zero makes large, and with WEFT_TEST_HUGE=1 with a message beyond 2^31 bytes. */
#include "check.h"

enum { COUNT = 3000 };
static int out[COUNT], in[COUNT];

static void reset(void)
{
    for (int i = 0; i < COUNT; i++) {
        out[i] = rank_of_world * COUNT + i;
        in[i] = -1;
    }
}

static void arrived(int from)
{
    for (int i = 0; i < COUNT; i++)
        CHECK_EQUAL(in[i], from * COUNT + i, "MPI-5.0 §19.1.5: large-count forms");
}

static void sends(void)
{
    int (*const blocking[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm) = {
        MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c, MPI_Rsend_c,
    };
    int (*const starting[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend_c, MPI_Issend_c, MPI_Ibsend_c, MPI_Irsend_c, MPI_Send_init_c, MPI_Ssend_init_c,
        MPI_Bsend_init_c, MPI_Rsend_init_c,
    };
    for (int form = 0; form < 12; form++) {
        MPI_Request receive, send = MPI_REQUEST_NULL;
        MPI_Status status;
        MPI_Count count = -1;
        reset();
        if (form % 2) {
            MPI_Irecv_c(in, COUNT, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, &receive);
        } else {
            MPI_Recv_init_c(in, COUNT, MPI_INT, left_neighbour(), 1, MPI_COMM_WORLD, &receive);
            MPI_Start(&receive);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (form < 4)
            blocking[form](out, COUNT, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD);
        else
            starting[form - 4](out, COUNT, MPI_INT, right_neighbour(), 1, MPI_COMM_WORLD, &send);
        if (form >= 8)
            MPI_Start(&send);
        MPI_Wait(&receive, &status);
        MPI_Get_count_c(&status, MPI_INT, &count);
        CHECK_EQUAL(count, COUNT, "MPI-5.0 §3.2.5");
        arrived(left_neighbour());
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        if (form >= 8)
            MPI_Request_free(&send);
        if (form % 2 == 0)
            MPI_Request_free(&receive);
    }
}

static void others(void)
{
    MPI_Request request;
    MPI_Message message;
    reset();
    MPI_Sendrecv_c(out, COUNT, MPI_INT, right_neighbour(), 2, in, COUNT, MPI_INT, left_neighbour(), 2,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived(left_neighbour());
    reset();
    MPI_Isendrecv_c(out, COUNT, MPI_INT, right_neighbour(), 2, in, COUNT, MPI_INT, left_neighbour(), 2,
                    MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    arrived(left_neighbour());
    reset();
    memcpy(in, out, sizeof in);
    MPI_Sendrecv_replace_c(in, COUNT, MPI_INT, right_neighbour(), 2, left_neighbour(), 2, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
    arrived(left_neighbour());
    reset();
    memcpy(in, out, sizeof in);
    MPI_Isendrecv_replace_c(in, COUNT, MPI_INT, right_neighbour(), 2, left_neighbour(), 2, MPI_COMM_WORLD,
                            &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    arrived(left_neighbour());
    for (int form = 0; form < 3; form++) {
        reset();
        MPI_Isend_c(out, COUNT, MPI_INT, right_neighbour(), 3, MPI_COMM_WORLD, &request);
        if (form < 2)
            MPI_Mprobe(left_neighbour(), 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        if (form == 0) {
            MPI_Mrecv_c(in, COUNT, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else if (form == 1) {
            MPI_Request receive;
            MPI_Imrecv_c(in, COUNT, MPI_INT, &message, &receive);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv_c(in, COUNT, MPI_INT, left_neighbour(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        arrived(left_neighbour());
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Billions of elements without data, and one element of a type that spans gigabytes but holds two int. */
static void counts_beyond_int(void)
{
    const MPI_Count billions = (MPI_Count)5000000000;
    MPI_Datatype nothing, wide;
    MPI_Request request;
    MPI_Status status;
    MPI_Count size = -1, lower = -1, extent = -1, count = -1;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Isend_c(out, billions, nothing, right_neighbour(), 4, MPI_COMM_WORLD, &request);
    MPI_Recv_c(in, billions, nothing, left_neighbour(), 4, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(status_count(&status, MPI_BYTE), 0, "MPI-5.0 §3.2.2");
    MPI_Type_vector_c(2, 1, billions, MPI_INT, &wide);
    MPI_Type_commit(&wide);
    MPI_Type_size_c(wide, &size);
    MPI_Type_get_extent_c(wide, &lower, &extent);
    CHECK_EQUAL(size, 8, "MPI-5.0 §5.1.5");
    CHECK(lower == 0 && extent == 4 * billions + 4, "MPI-5.0 §5.1.7");
    MPI_Isend_c(NULL, 0, wide, right_neighbour(), 5, MPI_COMM_WORLD, &request);
    MPI_Recv_c(NULL, 0, wide, left_neighbour(), 5, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count_c(&status, wide, &count);
    CHECK_EQUAL(count, 0, "MPI-5.0 §3.2.5");
    MPI_Type_free(&wide);
    MPI_Type_free(&nothing);
}

/* 2.2 GB from rank 0 to rank 1 (or to itself). */
static void huge(void)
{
    const size_t bytes = 2200000001;
    int receiver = size_of_world > 1 ? 1 : 0;
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    MPI_Status status;
    unsigned char *source = NULL, *target = NULL;
    if (rank_of_world == receiver) {
        target = need(bytes);
        MPI_Irecv_c(target, (MPI_Count)bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &receive);
    }
    if (rank_of_world == 0) {
        source = need(bytes);
        fill_pattern(source, bytes, 1);
        MPI_Isend_c(source, (MPI_Count)bytes, MPI_BYTE, receiver, 6, MPI_COMM_WORLD, &send);
    }
    MPI_Wait(&receive, &status);
    if (rank_of_world == receiver) {
        MPI_Count count = -1;
        MPI_Get_count_c(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, bytes, "MPI-5.0 §3.2.5");
        CHECK_EQUAL(status_count(&status, MPI_BYTE), MPI_UNDEFINED, "MPI-5.0 §3.2.5");
        CHECK(has_pattern(target, bytes, 1), "MPI-5.0 §3.2.2");
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    free(source);
    free(target);
}

int main(int argc, char **argv)
{
    static char buffer[8 * COUNT];
    void *detached;
    MPI_Count size = -1;
    check_start(&argc, &argv, "large_count");
    MPI_Buffer_attach_c(buffer, (MPI_Count)sizeof buffer);
    sends();
    others();
    MPI_Buffer_detach_c(&detached, &size);
    CHECK(detached == buffer && size == sizeof buffer, "MPI-5.0 §3.6");
    counts_beyond_int();
    if (getenv("WEFT_TEST_HUGE"))
        huge();
    return check_finish();
}
