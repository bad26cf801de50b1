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
static MPI_Count large_counts[8];
static MPI_Aint large_places[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

#define FORM(name, call) \
    static int name(const void *buffer, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) \
    { \
        (void)buffer, (void)count, (void)type, (void)op, (void)root; \
        return call; \
    }

/* Both forms of MPI_Name; the arrays of the second have the same names. */
#define FORMS(name, Name, ...) \
    FORM(name, MPI_##Name(__VA_ARGS__)) \
    static int name##_c(const void *buffer, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) \
    { \
        const MPI_Count *counts = large_counts; \
        const MPI_Aint *places = large_places; \
        (void)counts, (void)places, (void)count, (void)op, (void)root; \
        return MPI_##Name##_c(__VA_ARGS__); \
    }

FORM(barrier, MPI_Barrier(comm))
FORMS(bcast, Bcast, (void *)buffer, count, type, root, comm)
FORMS(gather, Gather, buffer, count, type, in, count, type, root, comm)
FORMS(gatherv, Gatherv, buffer, count, type, in, counts, places, type, root, comm)
FORMS(scatter, Scatter, out, count, type, (void *)buffer, count, type, root, comm)
FORMS(scatterv, Scatterv, out, counts, places, type, (void *)buffer, count, type, root, comm)
FORMS(allgather, Allgather, buffer, count, type, in, count, type, comm)
FORMS(allgatherv, Allgatherv, buffer, count, type, in, counts, places, type, comm)
FORMS(alltoall, Alltoall, buffer, count, type, in, count, type, comm)
FORMS(alltoallv, Alltoallv, buffer, counts, places, type, in, counts, places, type, comm)
FORMS(reduce, Reduce, buffer, in, count, type, op, root, comm)
FORMS(allreduce, Allreduce, buffer, in, count, type, op, comm)
FORMS(scan, Scan, buffer, in, count, type, op, comm)
FORMS(exscan, Exscan, buffer, in, count, type, op, comm)

#define BOTH(name, Name, ...) { "MPI_" #Name, name, __VA_ARGS__ }, { "MPI_" #Name "_c", name##_c, __VA_ARGS__ }
static const struct form {
    const char *name;
    collective *call;
    int data, rooted, reduces;
} forms[] = {
    { "MPI_Barrier", barrier, 0, 0, 0 },
    BOTH(bcast, Bcast, 1, 1, 0),
    BOTH(gather, Gather, 1, 1, 0),
    BOTH(gatherv, Gatherv, 1, 1, 0),
    BOTH(scatter, Scatter, 1, 1, 0),
    BOTH(scatterv, Scatterv, 1, 1, 0),
    BOTH(allgather, Allgather, 1, 0, 0),
    BOTH(allgatherv, Allgatherv, 1, 0, 0),
    BOTH(alltoall, Alltoall, 1, 0, 0),
    BOTH(alltoallv, Alltoallv, 1, 0, 0),
    BOTH(reduce, Reduce, 1, 1, 1),
    BOTH(allreduce, Allreduce, 1, 0, 1),
    BOTH(scan, Scan, 1, 0, 1),
    BOTH(exscan, Exscan, 1, 0, 1),
};

static void try_form(const struct form *form, const char *what, const void *buffer, int count,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, int expected)
{
    char detail[64];
    snprintf(detail, sizeof detail, ": %s", what);
    for (int r = 0; r < 8; r++)
        counts[r] = large_counts[r] = count;
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
