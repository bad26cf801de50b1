/* Operations of the program's: MPI-5.0 §6.9.5, §6.9.7. One that is not commutative shows the order: MPI-5.0 §6.9.1 wants
 * that of the ranks. An operation is x -> a x + b modulo 2^32, and operations follow each other. */
#include "check.h"

typedef struct { unsigned a, b; } affine;

static long calls;

static affine after(affine first, affine second)
{
    return (affine){ first.a * second.a, first.a * second.b + first.b };
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int size = -1;
    affine *left = in, *right = inout;
    CHECK(MPI_Type_size(*type, &size) == MPI_SUCCESS && size == sizeof(affine), "MPI-5.0 §6.9.5", "the datatype");
    for (int i = 0; i < *length; i++)
        right[i] = after(left[i], right[i]);
    calls++;
}

static void compose_large(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    int small = (int)*length;
    compose(in, inout, &small, type);
}

static affine operand(int rank, int index) { return (affine){ 2u * (unsigned)(rank + index) + 3, (unsigned)(7 * rank + index) }; }

static affine composed(int first, int last, int index)
{
    affine total = operand(first, index);
    for (int rank = first + 1; rank <= last; rank++)
        total = after(total, operand(rank, index));
    return total;
}

static void check(const affine *got, int count, int first, int last, int start, const char *what)
{
    for (int i = 0; i < count; i++) {
        affine wanted = composed(first, last, start + i);
        CHECK(got[i].a == wanted.a && got[i].b == wanted.b, what, "[%d] of ranks %d to %d", i, first, last);
    }
}

static void in_rank_order(MPI_Op op, MPI_Datatype type, int count)
{
    int rank = rank_of_world, last = size_of_world - 1;
    size_t all = (size_t)count * (size_t)size_of_world;
    affine *out = need(all * sizeof *out), *in = need(all * sizeof *in);
    for (int i = 0; i < (int)all; i++)
        out[i] = operand(rank, i);
    for (int root = 0; root <= last; root++) {
        MPI_Reduce(out, in, count, type, op, root, MPI_COMM_WORLD);
        if (rank == root)
            check(in, count, 0, last, 0, "MPI_Reduce");
    }
    MPI_Allreduce(out, in, count, type, op, MPI_COMM_WORLD);
    check(in, count, 0, last, 0, "MPI_Allreduce");
    MPI_Scan(out, in, count, type, op, MPI_COMM_WORLD);
    check(in, count, 0, rank, 0, "MPI_Scan");
    MPI_Exscan(out, in, count, type, op, MPI_COMM_WORLD);
    if (rank > 0)
        check(in, count, 0, rank - 1, 0, "MPI_Exscan");
    MPI_Reduce_scatter_block(out, in, count, type, op, MPI_COMM_WORLD);
    check(in, count, 0, last, rank * count, "MPI_Reduce_scatter_block");
    memcpy(in, out, all * sizeof *out);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, in, count, type, op, MPI_COMM_WORLD);
    check(in, count, 0, last, rank * count, "MPI_Reduce_scatter_block in place");
    /* `in` comes from the lower rank: MPI-5.0 §6.9.7. */
    for (int i = 0; i < count; i++)
        out[i] = operand(0, i), in[i] = operand(1, i);
    MPI_Reduce_local(out, in, count, type, op);
    check(in, count, 0, 1, 0, "MPI_Reduce_local");
    free(out);
    free(in);
}

/* Operation and datatype are freed while a nonblocking call uses them, and the handles are not the program's any more:
 * MPI-5.0 §6.9.5, §5.1.9. */
static void freed_in_use(void)
{
    affine out[4], in[4];
    MPI_Op op;
    MPI_Datatype type, other;
    MPI_Request request, again;
    for (int i = 0; i < 4; i++)
        out[i] = operand(rank_of_world, i);
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Allreduce_init(out, in, 4, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &again);
    affine first[4];
    MPI_Iallreduce(out, first, 4, type, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL, "MPI-5.0 §6.9.5");
    MPI_Type_free(&type);
    MPI_Type_contiguous(3, MPI_CHAR, &other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(first, 4, 0, size_of_world - 1, 0, "MPI_Iallreduce");
    for (int start = 0; start < 3; start++) {
        memset(in, 0, sizeof in);
        MPI_Start(&again);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        check(in, 4, 0, size_of_world - 1, 0, "MPI_Allreduce_init");
    }
    MPI_Request_free(&again);
    MPI_Type_free(&other);
}

static void commutativity(void)
{
    MPI_Op ops[3] = { MPI_SUM };
    int commutes, wanted[3] = { 1, 0, 1 };
    MPI_Op_create(compose, 0, &ops[1]);
    MPI_Op_create_c(compose_large, 1, &ops[2]);
    for (int i = 0; i < 3; i++) {
        commutes = -1;
        MPI_Op_commutative(ops[i], &commutes);
        CHECK_EQUAL(commutes, wanted[i], "MPI-5.0 §6.9.5");
    }
    MPI_Op_free(&ops[1]);
    MPI_Op_free(&ops[2]);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 1, 5, 3000 };
    MPI_Op op, large;
    MPI_Datatype type;
    check_start(&argc, &argv, "user_operations");
    MPI_Op_create(compose, 0, &op);
    MPI_Op_create_c(compose_large, 0, &large);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 3; i++) {
        in_rank_order(op, type, counts[i]);
        in_rank_order(large, type, counts[i]);
    }
    CHECK(calls > 0, "MPI-5.0 §6.9.5");
    freed_in_use();
    commutativity();
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    MPI_Op_free(&large);
    return check_finish();
}
