/* libmpi.so.12 for IMB-MPI1, on any MPI library.
 *
 * Intel's binary of its benchmarks calls the MPICH ABI: handles are 32-bit numbers, a status has five of them. This file has the calls
 * that IMB-MPI1 makes, and makes each on the library that it is compiled with. Handles of objects that the program makes are numbers of
 * places in tables here. A call costs a look-up or two more than the library's own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int Handle;

typedef struct {
    int count_low, count_high, source, tag, error;
} Status;

/* The upper byte of a handle says what it is of; these of what is predefined, or of nothing. */
enum {
    COMM_WORLD = 0x44000000,
    COMM_SELF = 0x44000001,
    COMM_NULL = 0x04000000,
    PREDEFINED_TYPE = 0x4c,
    TYPE_NULL = 0x0c000000,
    PREDEFINED_OP = 0x58,
    REQUEST_NULL = 0x2c000000,
    MADE = 0x80000000,
};
enum { PROC_NULL = -1, ANY_SOURCE = -2, ROOT = -3, ANY_TAG = -1, UNDEFINED = -32766 };
#define STATUS_IGNORE ((Status *)1)
#define IN_PLACE ((void *)-1)

#define PLACES (1 << 16)
static MPI_Comm comms[PLACES];
static MPI_Group groups[PLACES];
static MPI_Datatype types[PLACES];
static MPI_Op ops[PLACES];
static MPI_Request requests[PLACES];
static MPI_Datatype predefined_types[256];
static MPI_Op predefined_ops[16];

/* Places in one table: those never used, and those free again. */
typedef struct {
    int used, freed_count, freed[PLACES];
} Places;
static Places comm_places, group_places, type_places, op_places, request_places;

static Handle take(Places *places) {
    if (places->freed_count > 0) return MADE | places->freed[--places->freed_count];
    if (places->used < PLACES) return MADE | places->used++;
    fprintf(stderr, "imb: more than %d handles of a kind\n", PLACES);
    exit(1);
}

static int place(Handle handle) { return handle & (PLACES - 1); }

static void give_back(Places *places, Handle handle) { places->freed[places->freed_count++] = place(handle); }

static MPI_Comm comm_of(Handle handle) {
    switch (handle) {
    case COMM_WORLD: return MPI_COMM_WORLD;
    case COMM_SELF: return MPI_COMM_SELF;
    case COMM_NULL: return MPI_COMM_NULL;
    default: return comms[place(handle)];
    }
}

static MPI_Datatype type_of(Handle handle) {
    if (handle >> 24 == PREDEFINED_TYPE) return predefined_types[handle & 255];
    return handle == TYPE_NULL ? MPI_DATATYPE_NULL : types[place(handle)];
}

static MPI_Op op_of(Handle handle) { return handle >> 24 == PREDEFINED_OP ? predefined_ops[handle & 15] : ops[place(handle)]; }

static MPI_Request request_of(Handle handle) { return handle == REQUEST_NULL ? MPI_REQUEST_NULL : requests[place(handle)]; }

static int rank_of(int rank) {
    switch (rank) {
    case PROC_NULL: return MPI_PROC_NULL;
    case ANY_SOURCE: return MPI_ANY_SOURCE;
    case ROOT: return MPI_ROOT;
    default: return rank;
    }
}

static int tag_of(int tag) { return tag == ANY_TAG ? MPI_ANY_TAG : tag; }

static void *buffer_of(const void *buffer) { return buffer == IN_PLACE ? MPI_IN_PLACE : (void *)buffer; }

static void tell(Status *told, const MPI_Status *status) {
    int bytes;
    if (told == STATUS_IGNORE) return;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    *told = (Status){bytes, 0, status->MPI_SOURCE, status->MPI_TAG, status->MPI_ERROR};
}

static Handle made_type(MPI_Datatype type) {
    Handle handle = take(&type_places);
    types[place(handle)] = type;
    return handle;
}

static Handle begun(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return REQUEST_NULL;
    Handle handle = take(&request_places);
    requests[place(handle)] = request;
    return handle;
}

/* What a wait has left of a request. */
static void waited(Handle *handle, MPI_Request left) {
    if (*handle == REQUEST_NULL) return;
    requests[place(*handle)] = left;
    if (left != MPI_REQUEST_NULL) return;
    give_back(&request_places, *handle);
    *handle = REQUEST_NULL;
}

static void name_predefined(void) {
    for (int number = 0; number < 256; number++) predefined_types[number] = MPI_DATATYPE_NULL;
    predefined_types[0x01] = MPI_CHAR;
    predefined_types[0x02] = MPI_UNSIGNED_CHAR;
    predefined_types[0x03] = MPI_SHORT;
    predefined_types[0x05] = MPI_INT;
    predefined_types[0x06] = MPI_UNSIGNED;
    predefined_types[0x07] = MPI_LONG;
    predefined_types[0x08] = MPI_UNSIGNED_LONG;
    predefined_types[0x0a] = MPI_FLOAT;
    predefined_types[0x0b] = MPI_DOUBLE;
    predefined_types[0x0d] = MPI_BYTE;
    predefined_ops[1] = MPI_MAX;
    predefined_ops[2] = MPI_MIN;
    predefined_ops[3] = MPI_SUM;
    predefined_ops[4] = MPI_PROD;
}

/* Defines MPI_NAME, under another name where the header has the library's own. */
#define CALL(result, name, ...) \
    result called_##name(__VA_ARGS__) __asm__("MPI_" #name); \
    result called_##name(__VA_ARGS__)

CALL(int, Init, int *argc, char ***argv) {
    name_predefined();
    return PMPI_Init(argc, argv);
}

CALL(int, Init_thread, int *argc, char ***argv, int required, int *provided) {
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int level, error = (name_predefined(), PMPI_Init_thread(argc, argv, levels[required & 3], &level));
    for (int number = 0; number < 4; number++)
        if (levels[number] == level) *provided = number;
    return error;
}

CALL(int, Finalize, void) { return PMPI_Finalize(); }
CALL(int, Abort, Handle comm, int code) { return PMPI_Abort(comm_of(comm), code); }
CALL(int, Get_version, int *version, int *subversion) { return PMPI_Get_version(version, subversion); }
CALL(double, Wtime, void) { return PMPI_Wtime(); }
CALL(int, Error_string, int code, char *string, int *length) { return PMPI_Error_string(code, string, length); }
CALL(int, Alloc_mem, MPI_Aint size, Handle info, void *base) { return (void)info, PMPI_Alloc_mem(size, MPI_INFO_NULL, base); }
CALL(int, Free_mem, void *base) { return PMPI_Free_mem(base); }

CALL(int, Comm_compare, Handle one, Handle other, int *result) {
    int found, error = PMPI_Comm_compare(comm_of(one), comm_of(other), &found);
    *result = found == MPI_IDENT ? 0 : found == MPI_CONGRUENT ? 1 : found == MPI_SIMILAR ? 2 : 3;
    return error;
}

CALL(int, Comm_free, Handle *comm) {
    int error = PMPI_Comm_free(&comms[place(*comm)]);
    give_back(&comm_places, *comm);
    *comm = COMM_NULL;
    return error;
}

CALL(int, Comm_group, Handle comm, Handle *group) {
    *group = take(&group_places);
    return PMPI_Comm_group(comm_of(comm), &groups[place(*group)]);
}

CALL(int, Comm_rank, Handle comm, int *rank) { return PMPI_Comm_rank(comm_of(comm), rank); }
CALL(int, Comm_size, Handle comm, int *size) { return PMPI_Comm_size(comm_of(comm), size); }

CALL(int, Comm_split, Handle comm, int color, int key, Handle *made) {
    MPI_Comm split;
    int error = PMPI_Comm_split(comm_of(comm), color == UNDEFINED ? MPI_UNDEFINED : color, key, &split);
    *made = COMM_NULL;
    if (split != MPI_COMM_NULL) comms[place(*made = take(&comm_places))] = split;
    return error;
}

CALL(int, Group_translate_ranks, Handle one, int count, const int *ranks, Handle other, int *translated) {
    return PMPI_Group_translate_ranks(groups[place(one)], count, ranks, groups[place(other)], translated);
}

CALL(int, Type_commit, Handle *type) {
    MPI_Datatype committed = type_of(*type);
    return PMPI_Type_commit(&committed);
}

CALL(int, Type_create_resized, Handle old, MPI_Aint lower, MPI_Aint extent, Handle *type) {
    MPI_Datatype made;
    int error = PMPI_Type_create_resized(type_of(old), lower, extent, &made);
    *type = made_type(made);
    return error;
}

CALL(int, Type_vector, int count, int length, int stride, Handle old, Handle *type) {
    MPI_Datatype made;
    int error = PMPI_Type_vector(count, length, stride, type_of(old), &made);
    *type = made_type(made);
    return error;
}

CALL(int, Type_free, Handle *type) {
    int error = PMPI_Type_free(&types[place(*type)]);
    give_back(&type_places, *type);
    *type = TYPE_NULL;
    return error;
}

CALL(int, Type_get_extent, Handle type, MPI_Aint *lower, MPI_Aint *extent) { return PMPI_Type_get_extent(type_of(type), lower, extent); }
CALL(int, Type_size, Handle type, int *size) { return PMPI_Type_size(type_of(type), size); }

CALL(int, Op_create, MPI_User_function *function, int commutes, Handle *op) {
    *op = take(&op_places);
    return PMPI_Op_create(function, commutes, &ops[place(*op)]);
}

CALL(int, Get_count, const Status *status, Handle type, int *count) {
    int size, error = PMPI_Type_size(type_of(type), &size);
    *count = size > 0 ? status->count_low / size : 0;
    return error;
}

CALL(int, Send, const void *buffer, int count, Handle type, int to, int tag, Handle comm) {
    return PMPI_Send(buffer, count, type_of(type), rank_of(to), tag, comm_of(comm));
}

CALL(int, Recv, void *buffer, int count, Handle type, int from, int tag, Handle comm, Status *told) {
    MPI_Status status;
    int error = PMPI_Recv(buffer, count, type_of(type), rank_of(from), tag_of(tag), comm_of(comm),
                          told == STATUS_IGNORE ? MPI_STATUS_IGNORE : &status);
    tell(told, &status);
    return error;
}

CALL(int, Isend, const void *buffer, int count, Handle type, int to, int tag, Handle comm, Handle *request) {
    MPI_Request made;
    int error = PMPI_Isend(buffer, count, type_of(type), rank_of(to), tag, comm_of(comm), &made);
    *request = begun(made);
    return error;
}

CALL(int, Irecv, void *buffer, int count, Handle type, int from, int tag, Handle comm, Handle *request) {
    MPI_Request made;
    int error = PMPI_Irecv(buffer, count, type_of(type), rank_of(from), tag_of(tag), comm_of(comm), &made);
    *request = begun(made);
    return error;
}

CALL(int, Sendrecv, const void *out, int out_count, Handle out_type, int to, int out_tag, void *in, int in_count, Handle in_type, int from,
     int in_tag, Handle comm, Status *told) {
    MPI_Status status;
    int error = PMPI_Sendrecv(out, out_count, type_of(out_type), rank_of(to), out_tag, in, in_count, type_of(in_type), rank_of(from),
                              tag_of(in_tag), comm_of(comm), told == STATUS_IGNORE ? MPI_STATUS_IGNORE : &status);
    tell(told, &status);
    return error;
}

CALL(int, Wait, Handle *request, Status *told) {
    MPI_Request waits = request_of(*request);
    MPI_Status status;
    int error = PMPI_Wait(&waits, told == STATUS_IGNORE ? MPI_STATUS_IGNORE : &status);
    waited(request, waits);
    tell(told, &status);
    return error;
}

CALL(int, Waitall, int count, Handle *handles, Status *told) {
    MPI_Request waits[count + 1];
    MPI_Status statuses[count + 1];
    for (int index = 0; index < count; index++) waits[index] = request_of(handles[index]);
    int error = PMPI_Waitall(count, waits, told == STATUS_IGNORE ? MPI_STATUSES_IGNORE : statuses);
    for (int index = 0; index < count; index++) {
        waited(&handles[index], waits[index]);
        if (told != STATUS_IGNORE) tell(&told[index], &statuses[index]);
    }
    return error;
}

CALL(int, Barrier, Handle comm) { return PMPI_Barrier(comm_of(comm)); }

CALL(int, Bcast, void *buffer, int count, Handle type, int root, Handle comm) {
    return PMPI_Bcast(buffer, count, type_of(type), rank_of(root), comm_of(comm));
}

CALL(int, Gather, const void *out, int out_count, Handle out_type, void *in, int in_count, Handle in_type, int root, Handle comm) {
    return PMPI_Gather(buffer_of(out), out_count, type_of(out_type), in, in_count, type_of(in_type), rank_of(root), comm_of(comm));
}

CALL(int, Gatherv, const void *out, int out_count, Handle out_type, void *in, const int *in_counts, const int *places, Handle in_type,
     int root, Handle comm) {
    return PMPI_Gatherv(buffer_of(out), out_count, type_of(out_type), in, in_counts, places, type_of(in_type), rank_of(root), comm_of(comm));
}

CALL(int, Scatter, const void *out, int out_count, Handle out_type, void *in, int in_count, Handle in_type, int root, Handle comm) {
    return PMPI_Scatter(out, out_count, type_of(out_type), buffer_of(in), in_count, type_of(in_type), rank_of(root), comm_of(comm));
}

CALL(int, Scatterv, const void *out, const int *out_counts, const int *places, Handle out_type, void *in, int in_count, Handle in_type,
     int root, Handle comm) {
    return PMPI_Scatterv(out, out_counts, places, type_of(out_type), buffer_of(in), in_count, type_of(in_type), rank_of(root), comm_of(comm));
}

CALL(int, Allgather, const void *out, int out_count, Handle out_type, void *in, int in_count, Handle in_type, Handle comm) {
    return PMPI_Allgather(buffer_of(out), out_count, type_of(out_type), in, in_count, type_of(in_type), comm_of(comm));
}

CALL(int, Allgatherv, const void *out, int out_count, Handle out_type, void *in, const int *in_counts, const int *places, Handle in_type,
     Handle comm) {
    return PMPI_Allgatherv(buffer_of(out), out_count, type_of(out_type), in, in_counts, places, type_of(in_type), comm_of(comm));
}

CALL(int, Alltoall, const void *out, int out_count, Handle out_type, void *in, int in_count, Handle in_type, Handle comm) {
    return PMPI_Alltoall(buffer_of(out), out_count, type_of(out_type), in, in_count, type_of(in_type), comm_of(comm));
}

CALL(int, Alltoallv, const void *out, const int *out_counts, const int *out_places, Handle out_type, void *in, const int *in_counts,
     const int *in_places, Handle in_type, Handle comm) {
    return PMPI_Alltoallv(buffer_of(out), out_counts, out_places, type_of(out_type), in, in_counts, in_places, type_of(in_type), comm_of(comm));
}

CALL(int, Allreduce, const void *out, void *in, int count, Handle type, Handle op, Handle comm) {
    return PMPI_Allreduce(buffer_of(out), in, count, type_of(type), op_of(op), comm_of(comm));
}

CALL(int, Reduce, const void *out, void *in, int count, Handle type, Handle op, int root, Handle comm) {
    return PMPI_Reduce(buffer_of(out), in, count, type_of(type), op_of(op), rank_of(root), comm_of(comm));
}

CALL(int, Reduce_local, const void *out, void *in, int count, Handle type, Handle op) {
    return PMPI_Reduce_local(out, in, count, type_of(type), op_of(op));
}

CALL(int, Reduce_scatter, const void *out, void *in, const int *counts, Handle type, Handle op, Handle comm) {
    return PMPI_Reduce_scatter(buffer_of(out), in, counts, type_of(type), op_of(op), comm_of(comm));
}

CALL(int, Reduce_scatter_block, const void *out, void *in, int count, Handle type, Handle op, Handle comm) {
    return PMPI_Reduce_scatter_block(buffer_of(out), in, count, type_of(type), op_of(op), comm_of(comm));
}
