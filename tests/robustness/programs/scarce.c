/* Every allocation of a call fails at rank 0, one after the other: a program in which failing.c is preloaded. Each call
 * ends with success or an error, which at the rank that has no memory is MPI_ERR_NO_MEM; what creates something ends
 * alike on all ranks; all go on. Arguments: how many allocations fail from each on (0: all that follow; -1: in their
 * place the address space is limited to some steps more than there is), a name that files may have, and which of the
 * long calls is made (-1: all, also after they have had an error). */
#include "expect.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void fail_from(long first, long count) __attribute__((weak));
long failed_so_far(void) __attribute__((weak));

/* LONG: longer than what a thread keeps from operation to operation. */
enum { BYTES = 1 << 18, LONG = 17 << 20, BLOCKS = 4000, REQUESTS = 64, SHORT = 1000 };

static int rank, size, next, before, keyval;
static char *data, *room, *packed;
static const char *path;
static MPI_Datatype strided, wide;
/* A communicator for each try: one on which an operation had no memory is of no use after. */
static MPI_Comm apart;
static MPI_Comm made;
static MPI_Win window;
static MPI_File file;
static MPI_Datatype type;
static MPI_Info info;
static MPI_Group everybody, whole, part;

#define TRY(call) do { int code_ = (call); if (code_) return code_; } while (0)

static int all(int count, MPI_Request *requests, int begun)
{
    int code = MPI_Waitall(count, requests, MPI_STATUSES_IGNORE), first = begun;
    if (code == MPI_ERR_IN_STATUS)
        code = MPI_ERR_NO_MEM;
    return first ? first : code;
}

static int allreduce(void) { return MPI_Allreduce(data, room, LONG, MPI_BYTE, MPI_BOR, apart); }
static int allreduce_in_place(void) { return MPI_Allreduce(MPI_IN_PLACE, room, BYTES / 4, MPI_INT, MPI_SUM, apart); }
static int reduce(void) { return MPI_Reduce(data, room, BYTES, MPI_BYTE, MPI_BXOR, 1, apart); }
static int reduce_scatter(void)
{
    return MPI_Reduce_scatter_block(MPI_IN_PLACE, room, LONG / size, MPI_BYTE, MPI_BOR, apart);
}
static int bcast(void) { return MPI_Bcast(data, 1, wide, 0, apart); }
static int gather(void) { return MPI_Gather(data, 1, strided, room, 1, strided, 1, apart); }
static int allgather(void) { return MPI_Allgather(data, 1, strided, room, 1, strided, apart); }
static int scan(void) { return MPI_Scan(data, room, LONG, MPI_BYTE, MPI_BXOR, apart); }
static int exscan(void) { return MPI_Exscan(data, room, BYTES, MPI_BYTE, MPI_BXOR, apart); }
static int alltoall(void) { return MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, data, BYTES / size, MPI_BYTE, apart); }
static int alltoallw(void)
{
    int counts[64], places[64];
    MPI_Datatype types[64];
    for (int at = 0; at < size; at++)
        counts[at] = 1, places[at] = 0, types[at] = strided;
    for (int at = 0; at < size; at++)
        places[at] = at * 2 * BYTES;
    return MPI_Alltoallw(data, counts, places, types, room, counts, places, types, apart);
}
static int iallreduce(void)
{
    MPI_Request request;
    TRY(MPI_Iallreduce(data, room, LONG, MPI_BYTE, MPI_BOR, apart, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int ialltoallw(void)
{
    int counts[64], places[64];
    MPI_Datatype types[64];
    MPI_Request request;
    for (int at = 0; at < size; at++)
        counts[at] = 1, places[at] = at * 2 * BYTES, types[at] = strided;
    TRY(MPI_Ialltoallw(data, counts, places, types, room, counts, places, types, apart, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int sendrecv(void)
{
    return MPI_Sendrecv(data, 1, strided, next, 3, room, 1, strided, before, 3, apart, MPI_STATUS_IGNORE);
}
static int replace(void)
{
    return MPI_Sendrecv_replace(data, 1, strided, 0, 4, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
/* They come before their receives. */
static int unexpected(void)
{
    MPI_Request sends[REQUESTS];
    int code = 0, flag;
    for (int at = 0; at < REQUESTS; at++)
        sends[at] = MPI_REQUEST_NULL;
    for (int at = 0; at < REQUESTS; at++) {
        int one = MPI_Isend(data, SHORT, MPI_CHAR, next, at, apart, sends + at);
        code = code ? code : one;
        if (one)
            MPI_Isend(data, 0, MPI_CHAR, next, at, apart, sends + at);
    }
    MPI_Iprobe(before, 1000, apart, &flag, MPI_STATUS_IGNORE);
    for (int at = REQUESTS; at-- > 0;) {
        int one = MPI_Recv(room, SHORT, MPI_CHAR, before, at, apart, MPI_STATUS_IGNORE);
        code = code ? code : one;
    }
    return all(REQUESTS, sends, code);
}
static int posted(void)
{
    MPI_Request requests[REQUESTS];
    int begun = 0, code = 0;
    for (; begun < REQUESTS && !code; begun += !code)
        code = MPI_Irecv(room, 1, MPI_CHAR, 0, begun, MPI_COMM_SELF, requests + begun);
    for (int at = 0; at < begun; at++) {
        int one = MPI_Send(data, 1, MPI_CHAR, 0, at, MPI_COMM_SELF);
        if (one)
            MPI_Cancel(requests + at);
        code = code ? code : one;
    }
    return all(begun, requests, code);
}
static int buffered(void)
{
    int code = MPI_Bsend(data, SHORT, MPI_CHAR, 0, 5, MPI_COMM_SELF);
    return code ? code : MPI_Recv(room, SHORT, MPI_CHAR, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static int persistent(void)
{
    MPI_Request request;
    TRY(MPI_Send_init(data, 1, strided, MPI_PROC_NULL, 5, MPI_COMM_SELF, &request));
    MPI_Start(&request);
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return MPI_Request_free(&request);
}
static int pack(void)
{
    int at = 0;
    TRY(MPI_Pack(data, 1, strided, packed, BYTES, &at, MPI_COMM_SELF));
    at = 0;
    return MPI_Unpack(packed, BYTES, &at, room, 1, strided, MPI_COMM_SELF);
}
static int committed(int code)
{
    if (code)
        return code;
    code = MPI_Type_commit(&type);
    MPI_Type_free(&type);
    return code;
}
static int lengths[BLOCKS];
static MPI_Aint places[BLOCKS];
static MPI_Datatype of[BLOCKS];
static int hindexed(void) { return committed(MPI_Type_create_hindexed(BLOCKS, lengths, places, MPI_BYTE, &type)); }
static int block(void) { return committed(MPI_Type_create_hindexed_block(BLOCKS, 1, places, strided, &type)); }
static int structure(void) { return committed(MPI_Type_create_struct(BLOCKS, lengths, places, of, &type)); }
static int subarray(void)
{
    int all[] = {9, 9}, some[] = {3, 3}, starts[] = {1, 1};
    return committed(MPI_Type_create_subarray(2, all, some, starts, MPI_ORDER_C, MPI_INT, &type));
}
static int groups(void)
{
    static int ranks[1] = {0};
    TRY(MPI_Comm_group(MPI_COMM_WORLD, &whole));
    int code = MPI_Group_incl(whole, 1, ranks, &part);
    if (!code)
        MPI_Group_free(&part);
    MPI_Group_free(&whole);
    return code;
}
static int infos(void)
{
    TRY(MPI_Info_create(&info));
    int code = MPI_Info_set(info, "key", "value");
    MPI_Info_free(&info);
    return code;
}
static int attributes(void)
{
    TRY(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, data));
    return MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
}
static int codes(void)
{
    int class;
    TRY(MPI_Add_error_class(&class));
    int code = MPI_Add_error_string(class, "of the test");
    if (!code)
        MPI_Remove_error_string(class);
    MPI_Remove_error_class(class);
    return code;
}
static int allocated(void)
{
    void *memory;
    int code = MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory);
    return code ? code : MPI_Free_mem(memory);
}
static int dup(void) { return MPI_Comm_dup(MPI_COMM_WORLD, &made); }
static int split(void) { return MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made); }
static int cart(void) { return MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &made); }
static int create(void) { return MPI_Comm_create(MPI_COMM_WORLD, everybody, &made); }
static void free_comm(void) { MPI_Comm_free(&made); }
static int win_allocate(void)
{
    void *base;
    return MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
}
static int win_create(void) { return MPI_Win_create(room, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window); }
static int win_dynamic(void) { return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window); }
static void free_win(void) { MPI_Win_free(&window); }
static int open_file(void)
{
    return MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}
static void close_file(void) { MPI_File_close(&file); }
static int access_window(void)
{
    /* An exclusive lock is never given twice, so that all ranks go on. */
    TRY(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window));
    int code = MPI_Put(data, 1, strided, next, 0, BYTES / 2, MPI_BYTE, window);
    int second = MPI_Accumulate(data, 1, strided, next, 0, BYTES / 2, MPI_BYTE, MPI_BOR, window);
    int third = MPI_Get(data, 1, strided, next, 0, BYTES / 2, MPI_BYTE, window);
    int last = MPI_Win_unlock(next, window);
    return code ? code : second ? second : third ? third : last;
}
static int view(void) { return MPI_File_set_view(file, 0, MPI_BYTE, strided, "native", MPI_INFO_NULL); }
static int write_all(void) { return MPI_File_write_at_all(file, rank * BYTES, data, 1, strided, MPI_STATUS_IGNORE); }
static int write_own(void) { return MPI_File_write_at(file, rank * BYTES, data, 1, strided, MPI_STATUS_IGNORE); }
static int read_all(void) { return MPI_File_read_at_all(file, 0, data, 1, strided, MPI_STATUS_IGNORE); }
static int iwrite_all(void)
{
    MPI_Request request;
    TRY(MPI_File_iwrite_at_all(file, rank * BYTES, data, 1, strided, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What a call is: of this process alone, with others, or with others and alike on all of them. */
enum kind { ALONE, TOGETHER, ALIKE };

static const struct call {
    const char *name;
    int (*run)(void);
    enum kind kind;
    void (*free)(void);
} LONG_CALLS[] = {
    /* The other ranks ask what has become of the one that left the operation, which takes most of a second. */
    {"allreduce", allreduce, TOGETHER, 0}, {"reduce_scatter_block", reduce_scatter, TOGETHER, 0},
    {"scan", scan, TOGETHER, 0}, {"iallreduce", iallreduce, TOGETHER, 0},
};
static const struct call CALLS[] = {
    {"allreduce in place", allreduce_in_place, TOGETHER, 0}, {"reduce", reduce, TOGETHER, 0},
    {"bcast", bcast, TOGETHER, 0}, {"gather", gather, TOGETHER, 0}, {"allgather", allgather, TOGETHER, 0},
    {"exscan", exscan, TOGETHER, 0}, {"alltoall", alltoall, TOGETHER, 0}, {"alltoallw", alltoallw, TOGETHER, 0},
    {"ialltoallw", ialltoallw, TOGETHER, 0}, {"sendrecv", sendrecv, TOGETHER, 0},
    {"sendrecv_replace", replace, ALONE, 0}, {"unexpected", unexpected, TOGETHER, 0}, {"posted", posted, ALONE, 0},
    {"bsend", buffered, ALONE, 0}, {"persistent", persistent, ALONE, 0}, {"pack", pack, ALONE, 0},
    {"hindexed", hindexed, ALONE, 0}, {"hindexed_block", block, ALONE, 0}, {"struct", structure, ALONE, 0},
    {"subarray", subarray, ALONE, 0}, {"group", groups, ALONE, 0}, {"info", infos, ALONE, 0},
    {"attribute", attributes, ALONE, 0}, {"error class", codes, ALONE, 0}, {"alloc_mem", allocated, ALONE, 0},
    {"dup", dup, ALIKE, free_comm}, {"split", split, ALIKE, free_comm}, {"cart", cart, ALIKE, free_comm},
    {"create", create, ALIKE, free_comm}, {"win_allocate", win_allocate, ALIKE, free_win},
    {"win_create", win_create, ALIKE, free_win}, {"win_create_dynamic", win_dynamic, ALIKE, free_win},
    {"file open", open_file, ALIKE, close_file},
};
/* Those on a window and a file that are there. */
static const struct call ACCESSES[] = {
    {"accesses", access_window, ALONE, 0}, {"set_view", view, TOGETHER, 0}, {"write_at_all", write_all, TOGETHER, 0},
    {"write_at", write_own, ALONE, 0}, {"read_at_all", read_all, TOGETHER, 0},
    {"iwrite_at_all", iwrite_all, TOGETHER, 0},
};

enum { STEP = 128 << 10, STEPS = 12 };

static void limit_to(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_AS, &limit);
}

static rlim_t mapped(void)
{
    long pages = 0;
    FILE *told = fopen("/proc/self/statm", "r");
    if (!told || fscanf(told, "%ld", &pages) != 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(told);
    return (rlim_t)pages * 4096;
}

/* Takes the memory from rank 0 that it is to be without; none at first, so that the ranks know each other. */
static void arm(long at, long count)
{
    if (rank || at < 0)
        return;
    if (count < 0)
        limit_to(mapped() + at * STEP);
    else
        fail_from(at, count);
}

/* How often there was none. */
static long disarm(long at, long count)
{
    long failed = at < 0 || (count < 0 ? at < STEPS : failed_so_far());
    if (!rank)
        limit_to(RLIM_INFINITY);
    fail_from(-1, 0);
    return failed;
}

static void fail(const struct call *call, long at, const char *what, int class)
{
    printf("rank %d: %s, allocation %ld: %s, class %d\n", rank, call->name, at, what, class);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Allocation `at` of a call of rank 0's fails, and those after it: how many did, on rank 0. */
static long try(const struct call *call, long at, long count, int *had_error)
{
    int class = 0, classes[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    MPI_Comm_set_errhandler(apart, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    arm(at, count);
    int code = call->run();
    long failed = disarm(at, count);
    MPI_Error_class(code, &class);
    if (class && rank == 0 && class != MPI_ERR_NO_MEM)
        fail(call, at, "not the class of no memory", class);
    if (class && call->kind == ALONE && rank == 1)
        fail(call, at, "failed where there is memory", class);
    MPI_Allreduce((int[]){class, -class}, classes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (call->kind == ALIKE && (classes[0] != 0) != (classes[1] != 0))
        fail(call, at, "ended otherwise elsewhere", class);
    if (!class && call->free)
        call->free();
    *had_error |= classes[0] != 0;
    MPI_Comm_free(&apart);
    MPI_Bcast(&failed, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return failed;
}

static long failures, errors;

/* Takes each of a call's first allocations away, as long as it makes them. */
static void all_of(const struct call *calls, int number, long count, int until_error)
{
    enum { MOST = 20 };
    for (const struct call *call = calls; call < calls + number; call++) {
        int had_error = 0;
        for (long at = -1, failed = 1; failed && at < MOST && !(until_error && had_error); at++)
            failures += failed = try(call, at, count, &had_error);
        errors += had_error;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!fail_from || argc < 4) {
        printf("nothing fails\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    long count = atol(argv[1]);
    /* What is longer than a page is mapped, and so is limited. */
    if (count < 0)
        mallopt(M_MMAP_THRESHOLD, 4096);
    int which = atoi(argv[3]), long_calls = sizeof LONG_CALLS / sizeof *LONG_CALLS;
    path = argv[2];
    next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, 0);
    data = calloc(size, 2 * LONG), room = calloc(size, 2 * LONG), packed = malloc(BYTES);
    for (int at = 0; at < BLOCKS; at++)
        places[at] = 9 * at, lengths[at] = 1 + at % 3, of[at] = at % 2 ? MPI_BYTE : MPI_CHAR;
    MPI_Type_vector(BYTES / 32, 16, 32, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
    MPI_Type_vector(LONG / 1024, 1024, 2048, MPI_BYTE, &wide);
    MPI_Type_commit(&wide);
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
    /* Room for what is sent by MPI_Bsend is the library's. */
    MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0);
    if (which < 0)
        all_of(LONG_CALLS, long_calls, count, 0);
    else
        all_of(LONG_CALLS + which % long_calls, 1, count, 1);
    all_of(CALLS, sizeof CALLS / sizeof *CALLS, count, 0);
    win_allocate();
    open_file();
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    all_of(ACCESSES, sizeof ACCESSES / sizeof *ACCESSES, count, 0);
    free_win();
    close_file();
    MPI_Group_free(&everybody);
    MPI_Finalize();
    if (!rank)
        printf("ok scarce, %ld failures, %ld calls with errors\n", failures, errors);
    return 0;
}
