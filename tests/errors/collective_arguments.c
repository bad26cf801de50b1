/* Wrong arguments of collective calls: MPI-5.0 §6. They are wrong on every rank alike, or run on
 * MPI_COMM_SELF, so that no rank is left waiting.
 *
 * MPICH 5.0.2 fails: MPI_Bcast takes MPI_IN_PLACE, reductions end the job on a null type, and with a
 * negative count they overwrite memory in front of the buffers.
 * ranks: 1,2 */
#include "expect.h"

static int out[16], in[16];

/* Every collective in one form: what it lacks, it ignores. */
typedef int collective(const void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);

static int counts[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, places[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

#define FORM(name, call) \
    static int name(const void *buffer, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) \
    { \
        (void)buffer, (void)count, (void)type, (void)op, (void)root; \
        for (int r = 0; r < 8; r++) \
            counts[r] = count; \
        return call; \
    }

FORM(barrier, MPI_Barrier(comm))
FORM(bcast, MPI_Bcast((void *)buffer, count, type, root, comm))
FORM(gather, MPI_Gather(buffer, count, type, in, count, type, root, comm))
FORM(gatherv, MPI_Gatherv(buffer, count, type, in, counts, places, type, root, comm))
FORM(scatter, MPI_Scatter(out, count, type, (void *)buffer, count, type, root, comm))
FORM(scatterv, MPI_Scatterv(out, counts, places, type, (void *)buffer, count, type, root, comm))
FORM(allgather, MPI_Allgather(buffer, count, type, in, count, type, comm))
FORM(allgatherv, MPI_Allgatherv(buffer, count, type, in, counts, places, type, comm))
FORM(alltoall, MPI_Alltoall(buffer, count, type, in, count, type, comm))
FORM(alltoallv, MPI_Alltoallv(buffer, counts, places, type, in, counts, places, type, comm))
FORM(reduce, MPI_Reduce(buffer, in, count, type, op, root, comm))
FORM(allreduce, MPI_Allreduce(buffer, in, count, type, op, comm))
FORM(scan, MPI_Scan(buffer, in, count, type, op, comm))
FORM(exscan, MPI_Exscan(buffer, in, count, type, op, comm))
FORM(bcast_c, MPI_Bcast_c((void *)buffer, count, type, root, comm))
FORM(gather_c, MPI_Gather_c(buffer, count, type, in, count, type, root, comm))
FORM(allgather_c, MPI_Allgather_c(buffer, count, type, in, count, type, comm))
FORM(reduce_c, MPI_Reduce_c(buffer, in, count, type, op, root, comm))
FORM(allreduce_c, MPI_Allreduce_c(buffer, in, count, type, op, comm))
FORM(scan_c, MPI_Scan_c(buffer, in, count, type, op, comm))

static const struct form {
    const char *name;
    collective *call;
    int data, rooted, reduces;
} forms[] = {
    { "MPI_Barrier", barrier, 0, 0, 0 },       { "MPI_Bcast", bcast, 1, 1, 0 },
    { "MPI_Gather", gather, 1, 1, 0 },         { "MPI_Gatherv", gatherv, 1, 1, 0 },
    { "MPI_Scatter", scatter, 1, 1, 0 },       { "MPI_Scatterv", scatterv, 1, 1, 0 },
    { "MPI_Allgather", allgather, 1, 0, 0 },   { "MPI_Allgatherv", allgatherv, 1, 0, 0 },
    { "MPI_Alltoall", alltoall, 1, 0, 0 },     { "MPI_Alltoallv", alltoallv, 1, 0, 0 },
    { "MPI_Reduce", reduce, 1, 1, 1 },         { "MPI_Allreduce", allreduce, 1, 0, 1 },
    { "MPI_Scan", scan, 1, 0, 1 },             { "MPI_Exscan", exscan, 1, 0, 1 },
    { "MPI_Bcast_c", bcast_c, 1, 1, 0 },       { "MPI_Gather_c", gather_c, 1, 1, 0 },
    { "MPI_Allgather_c", allgather_c, 1, 0, 0 }, { "MPI_Reduce_c", reduce_c, 1, 1, 1 },
    { "MPI_Allreduce_c", allreduce_c, 1, 0, 1 }, { "MPI_Scan_c", scan_c, 1, 0, 1 },
};

static void try_form(const struct form *form, const char *what, const void *buffer, int count,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, int expected)
{
    char detail[64];
    snprintf(detail, sizeof detail, ": %s", what);
    int got = RESULT_OF(form->call(buffer, count, type, op, root, comm));
    expect_class(__FILE__, __LINE__, form->name, detail, got, expected, expected);
}

static void every_form(const struct form *f, MPI_Datatype uncommitted)
{
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Op sum = MPI_SUM;
    try_form(f, "null comm", out, 1, MPI_INT, sum, 0, MPI_COMM_NULL, MPI_ERR_COMM);
    try_form(f, "zero comm", out, 1, MPI_INT, sum, 0, (MPI_Comm)0, MPI_ERR_COMM);
    try_form(f, "type as comm", out, 1, MPI_INT, sum, 0, (MPI_Comm)MPI_INT, MPI_ERR_COMM);
    if (f->data) {
        if (!f->reduces)
            try_form(f, "count -1", out, -1, MPI_INT, sum, 0, self, MPI_ERR_COUNT);
        try_form(f, "null type", out, 1, MPI_DATATYPE_NULL, sum, 0, self, MPI_ERR_TYPE);
        try_form(f, "zero type", out, 1, (MPI_Datatype)0, sum, 0, self, MPI_ERR_TYPE);
        if (!f->reduces)
            try_form(f, "uncommitted type", out, 1, uncommitted, sum, 0, self, MPI_ERR_TYPE);
        try_form(f, "null buffer", NULL, 1, MPI_INT, sum, 0, self, MPI_ERR_BUFFER);
    }
    if (f->rooted) {
        try_form(f, "root too large", out, 1, MPI_INT, sum, size_of_world, MPI_COMM_WORLD, MPI_ERR_ROOT);
        try_form(f, "root -7", out, 1, MPI_INT, sum, -7, MPI_COMM_WORLD, MPI_ERR_ROOT);
        try_form(f, "root MPI_PROC_NULL", out, 1, MPI_INT, sum, MPI_PROC_NULL, MPI_COMM_WORLD, MPI_ERR_ROOT);
        try_form(f, "root MPI_ROOT", out, 1, MPI_INT, sum, MPI_ROOT, MPI_COMM_WORLD, MPI_ERR_ROOT);
    }
    if (f->reduces) {
        try_form(f, "null op", out, 1, MPI_INT, MPI_OP_NULL, 0, self, MPI_ERR_OP);
        try_form(f, "zero op", out, 1, MPI_INT, (MPI_Op)0, 0, self, MPI_ERR_OP);
        try_form(f, "unused op value", out, 1, MPI_INT, (MPI_Op)0x2f, 0, self, MPI_ERR_OP);
        try_form(f, "comm as op", out, 1, MPI_INT, (MPI_Op)MPI_COMM_WORLD, 0, self, MPI_ERR_OP);
    }
}

/* Last, because a library that does not look copies backwards over the program's memory. */
static void negative_reductions(void)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        if (forms[f].reduces)
            try_form(&forms[f], "count -1", out, -1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF, MPI_ERR_COUNT);
}

/* MPI_IN_PLACE where it means nothing: MPI-5.0 §6.2.2. */
static void in_place(void)
{
    void *here = MPI_IN_PLACE;
    MPI_Comm self = MPI_COMM_SELF;
    EXPECT(MPI_ERR_BUFFER, MPI_Bcast(here, 1, MPI_INT, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Gather(out, 1, MPI_INT, here, 1, MPI_INT, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Scatter(here, 1, MPI_INT, in, 1, MPI_INT, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Allgather(out, 1, MPI_INT, here, 1, MPI_INT, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Alltoall(out, 1, MPI_INT, here, 1, MPI_INT, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce(out, here, 1, MPI_INT, MPI_SUM, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(out, here, 1, MPI_INT, MPI_SUM, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Scan(out, here, 1, MPI_INT, MPI_SUM, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Exscan(out, here, 1, MPI_INT, MPI_SUM, self));
}

/* One buffer for both: MPI-5.0 §2.3 forbids it unless a call says otherwise. */
static void aliased(void)
{
    MPI_Comm self = MPI_COMM_SELF;
    EXPECT(MPI_ERR_BUFFER, MPI_Gather(in, 1, MPI_INT, in, 1, MPI_INT, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Scatter(in, 1, MPI_INT, in, 1, MPI_INT, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Allgather(in, 1, MPI_INT, in, 1, MPI_INT, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Alltoall(in, 1, MPI_INT, in, 1, MPI_INT, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce(in, in, 1, MPI_INT, MPI_SUM, 0, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, self));
    EXPECT(MPI_ERR_BUFFER, MPI_Scan(in, in, 1, MPI_INT, MPI_SUM, self));
    /* At rank 0 the second does not count (§6.11.2). */
    EXPECT(MPI_SUCCESS, MPI_Exscan(in, in, 1, MPI_INT, MPI_SUM, self));
    EXPECT(MPI_SUCCESS, MPI_Allreduce(in, in, 0, MPI_INT, MPI_SUM, self));
}

/* The calls still work after all this. */
static void still_works(void)
{
    int one = 1, sum = 0;
    EXPECT(MPI_SUCCESS, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(sum, size_of_world, "MPI-5.0 §9.3");
}

int main(int argc, char **argv)
{
    MPI_Datatype uncommitted;
    expect_start(&argc, &argv, "collective_arguments");
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        every_form(&forms[f], uncommitted);
    in_place();
    aliased();
    negative_reductions();
    still_works();
    MPI_Type_free(&uncommitted);
    return expect_finish();
}
