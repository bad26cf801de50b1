/* MPI_Reduce, MPI_Allreduce, MPI_Scan and MPI_Exscan: every predefined operation on every predefined type
 * that it is allowed for, in place or not, against a local computation. */
#include "reductions.h"

enum { LARGEST_COUNT = 1500, COUNTS = 5 };

static _Alignas(64) char in[LARGEST_COUNT * LARGEST_ELEMENT], out[LARGEST_COUNT * LARGEST_ELEMENT],
    expected[LARGEST_COUNT * LARGEST_ELEMENT], scratch[LARGEST_COUNT * LARGEST_ELEMENT];

struct subject {
    const struct reduced_type *type;
    const struct operation *operation;
    int count;
};

/* Sets the operand, and the result to something wrong; in place, the result is the operand. */
static const void *prepare(const struct subject *s, int in_place)
{
    memset(out, 0x6B, sizeof out);
    s->type->fill(in_place ? out : in, s->count, rank_of_world);
    return in_place ? MPI_IN_PLACE : in;
}

static void compare(const struct subject *s, int last, const char *clause)
{
    expect(s->type, s->operation, last, expected, scratch, s->count);
    CHECK(s->type->equal(out, expected, s->count), clause, "%s of %d %s", s->operation->name, s->count,
          s->type->name);
    CHECK(out[s->count * s->type->size] == 0x6B, clause, "wrote beyond %d %s", s->count, s->type->name);
}

static void reduce(const struct subject *s, int root, int in_place)
{
    int at_root = rank_of_world == root;
    const void *operand_buffer = prepare(s, in_place && at_root);
    if (!at_root)
        s->type->fill(in, s->count, rank_of_world);
    MPI_Reduce(at_root ? operand_buffer : in, at_root ? out : NULL, s->count, s->type->type,
               s->operation->op, root, MPI_COMM_WORLD);
    if (at_root)
        compare(s, size_of_world - 1, "MPI-5.0 §6.9.1");
}

static void allreduce(const struct subject *s, int in_place)
{
    const void *operand_buffer = prepare(s, in_place);
    MPI_Allreduce(operand_buffer, out, s->count, s->type->type, s->operation->op, MPI_COMM_WORLD);
    compare(s, size_of_world - 1, "MPI-5.0 §6.9.6");
}

static void scan(const struct subject *s, int in_place)
{
    const void *operand_buffer = prepare(s, in_place);
    MPI_Scan(operand_buffer, out, s->count, s->type->type, s->operation->op, MPI_COMM_WORLD);
    compare(s, rank_of_world, "MPI-5.0 §6.11.1");
}

/* The result at rank 0 is undefined, so it is not looked at. */
static void exscan(const struct subject *s, int in_place)
{
    const void *operand_buffer = prepare(s, in_place);
    MPI_Exscan(operand_buffer, out, s->count, s->type->type, s->operation->op, MPI_COMM_WORLD);
    if (rank_of_world > 0)
        compare(s, rank_of_world - 1, "MPI-5.0 §6.11.2");
}

/* Beside the root the receive buffer means nothing: it may be the send buffer, as it is where all processes name one. */
static void one_buffer_off_root(void)
{
    for (int root = 0; root < size_of_world; root++) {
        int sum = rank_of_world + 1, at_root = rank_of_world == root, code;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        code = MPI_Reduce(at_root ? MPI_IN_PLACE : &sum, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        CHECK_EQUAL(code, MPI_SUCCESS, "MPI-5.0 §6.9.1: recvbuf is significant only at root");
        CHECK_EQUAL(sum, at_root ? size_of_world * (size_of_world + 1) / 2 : rank_of_world + 1, "MPI-5.0 §6.9.1");
    }
}

int main(int argc, char **argv)
{
    static const int counts[COUNTS] = { 0, 1, 7, 64, LARGEST_COUNT - 1 };
    check_start(&argc, &argv, "reductions");
    for (int t = 0; t < REDUCED_TYPES; t++) {
        const struct reduced_type *type = &reduced_types[t];
        if (!has_type(type))
            continue;
        /* In place or not alternates from one operation and count to the next. */
        for (const struct operation *operation = type->operations; operation->name; operation++)
            for (int c = 0; c < COUNTS; c++) {
                struct subject subject = { type, operation, counts[c] };
                int in_place = (c + (int)(operation - type->operations)) % 2;
                reduce(&subject, (t + c) % size_of_world, in_place);
                allreduce(&subject, in_place);
                scan(&subject, !in_place);
                exscan(&subject, in_place);
            }
    }
    struct subject subject = { &reduced_types[4], &reduced_types[4].operations[2], 33 };
    for (int root = 0; root < size_of_world; root++)
        for (int in_place = 0; in_place < 2; in_place++)
            reduce(&subject, root, in_place);
    one_buffer_off_root();
    return check_finish();
}
