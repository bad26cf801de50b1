/* Every collective operation of an intra-communicator in every form: MPI-5.0 §6.3 to §6.13; and in place. */
#include "every_form.h"

/* In place, where each process has what it would have sent: MPI-5.0 §6.4 to §6.11. */
static int *place;

static void fill_place(void)
{
    fill_operands();
    for (int i = 0; i < at.size * at.length; i++)
        place[i] = operand(at.me, i);
}

static void fill_own_block(void)
{
    fill();
    for (int i = 0; i < at.size * at.length; i++)
        place[i] = i / at.length == at.me ? value(at.me, 0, i % at.length) : -1;
}

static void fill_all_blocks(void)
{
    fill();
    for (int i = 0; i < at.size * at.length; i++)
        place[i] = value(at.me, i / at.length, i % at.length);
}

static void check_place(int first, int last, int start, int length, const char *what)
{
    for (int i = 0; i < length; i++)
        CHECK(place[i] == sum_of(0, first, last, start + i), what, "in place: [%d]", i);
}

static void verify_sum(const char *what) { check_place(0, at.size - 1, 0, at.length, what); }
static void verify_prefix(const char *what) { check_place(0, at.me, 0, at.length, what); }
static void verify_before(const char *what)
{
    if (at.me > 0)
        check_place(0, at.me - 1, 0, at.length, what);
}
static void verify_share(const char *what) { check_place(0, at.size - 1, at.me * at.length, at.length, what); }
static void verify_root_sum(const char *what)
{
    if (at.me == at.root)
        verify_sum(what);
}
static void verify_gathered(const char *what)
{
    for (int from = 0; from < at.size; from++)
        check_block(place + from * at.length, from, 0, at.length, what);
}
static void verify_root_gathered(const char *what)
{
    if (at.me == at.root)
        verify_gathered(what);
}
static void verify_exchanged(const char *what)
{
    for (int from = 0; from < at.size; from++)
        check_block(place + from * at.length, from, at.me, at.length, what);
}

static void in_place(MPI_Comm comm, int length)
{
    at.comm = comm;
    at.length = length;
    at.inter = 0;
    MPI_Comm_rank(comm, &at.me);
    MPI_Comm_size(comm, &at.size);
    at.others = at.size;
    at.own_base = at.their_base = at.root_base = 0;
    at.root = at.size - 1;
    size_t bytes = 2 * ((size_t)at.size + 1) * ((size_t)length + 1) * sizeof(int);
    out = need(bytes), in = need(bytes), place = need(bytes);
    int *counts = need((size_t)at.size * sizeof(int)), *places = need((size_t)at.size * sizeof(int));
    MPI_Datatype *types = need((size_t)at.size * sizeof(MPI_Datatype));
    int *byte_places = need((size_t)at.size * sizeof(int));
    for (int rank = 0; rank < at.size; rank++) {
        counts[rank] = length, places[rank] = rank * length, types[rank] = MPI_INT;
        byte_places[rank] = places[rank] * (int)sizeof(int);
    }
    int is_last = at.me == at.root;
    IN_EVERY_FORM(Allreduce, allreduce, fill_place, verify_sum, MPI_IN_PLACE, place, length, MPI_INT, MPI_SUM, comm);
    IN_EVERY_FORM(Reduce, reduce, fill_place, verify_root_sum, is_last ? MPI_IN_PLACE : place, place + (is_last ? 0 : length),
                  length, MPI_INT, MPI_SUM, at.root, comm);
    IN_EVERY_FORM(Scan, scan, fill_place, verify_prefix, MPI_IN_PLACE, place, length, MPI_INT, MPI_SUM, comm);
    IN_EVERY_FORM(Exscan, exscan, fill_place, verify_before, MPI_IN_PLACE, place, length, MPI_INT, MPI_SUM, comm);
    IN_EVERY_FORM(Reduce_scatter_block, reduce_scatter_block, fill_place, verify_share, MPI_IN_PLACE, place, length,
                  MPI_INT, MPI_SUM, comm);
    IN_EACH_FORM(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, fill_place, verify_share, MPI_IN_PLACE,
                 place, counts, MPI_INT, MPI_SUM, comm);
    IN_EVERY_FORM(Allgather, allgather, fill_own_block, verify_gathered, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, place, length,
                  MPI_INT, comm);
    IN_EACH_FORM(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, fill_own_block, verify_gathered, MPI_IN_PLACE, 0,
                 MPI_DATATYPE_NULL, place, counts, places, MPI_INT, comm);
    IN_EVERY_FORM(Gather, gather, fill_own_block, verify_root_gathered, is_last ? MPI_IN_PLACE : place + at.me * length,
                  length, MPI_INT, place, length, MPI_INT, at.root, comm);
    IN_EVERY_FORM(Alltoall, alltoall, fill_all_blocks, verify_exchanged, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, place, length,
                  MPI_INT, comm);
    IN_EACH_FORM(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, fill_all_blocks, verify_exchanged, MPI_IN_PLACE, NULL,
                 NULL, MPI_DATATYPE_NULL, place, counts, places, MPI_INT, comm);
    IN_EACH_FORM(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, fill_all_blocks, verify_exchanged, MPI_IN_PLACE, NULL,
                 NULL, NULL, place, counts, byte_places, types, comm);
    free(out), free(in), free(place), free(counts), free(places), free(types), free(byte_places);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 0, 1, 7, 3000, 40000 };
    MPI_Comm reversed;
    check_start(&argc, &argv, "every_form");
    for (int i = 0; i < 4; i++) {
        every_operation(MPI_COMM_WORLD, lengths[i], 0);
        in_place(MPI_COMM_WORLD, lengths[i]);
    }
    in_place(MPI_COMM_WORLD, lengths[4]);
    every_operation(MPI_COMM_SELF, 5, 0);
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world % 2, -rank_of_world, &reversed);
    every_operation(reversed, 9, 0);
    MPI_Comm_free(&reversed);
    return check_finish();
}
