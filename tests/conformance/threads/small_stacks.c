/* Threads with stacks of 16 KiB, PTHREAD_STACK_MIN, as the tasks of user-level threads have: no call needs more, be it the
 * first of its kind, on a lane or to a peer, and each leaves room, of which the stack's paint tells. The main thread does
 * nothing but begin and end, and duplicate MPI_COMM_WORLD for calls that are to be the first on a communicator. Opening a
 * file is not among them: file systems and their libraries need what they need.
 * ranks: 2,4 */
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
/* What is instrumented has longer frames. */
#define STACK (1 << 20)
#else
#define STACK (16 << 10)
#endif

/* Bytes that a call leaves: a signal's handler may come. */
#define LEFT 512
#define PAINT 0xA5
#define LONG (1 << 20)
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

typedef void step(void);

static char *out, *in;
static double one = 1, sum;
static int counts[64], places[64];
static MPI_Datatype types[64];
static MPI_Comm comm, other;
static MPI_Win window;
static MPI_Request request;

/* The first calls on a communicator of which nothing but its creation was done. */
static MPI_Comm untouched_yet;

static void first_allreduce(void) { MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, untouched_yet); }

static void first_iallreduce(void)
{
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, untouched_yet, &request);
    MPI_Wait(&request, IGNORE);
}

static void first_alltoallv(void)
{
    static const int none[64];
    MPI_Alltoallv(out, none, none, MPI_BYTE, in, none, none, MPI_BYTE, untouched_yet);
}

static void first_duplicate(void)
{
    MPI_Comm_dup(untouched_yet, &other);
    MPI_Comm_free(&other);
}

static void first_window(void)
{
    void *base;
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, untouched_yet, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&one, 1, MPI_DOUBLE, right_neighbour(), 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void first_between(void)
{
    MPI_Comm part, merged;
    MPI_Comm_split(untouched_yet, rank_of_world == 0, 0, &part);
    MPI_Intercomm_create(part, 0, untouched_yet, rank_of_world == 0, 7, &other);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, other);
    MPI_Intercomm_merge(other, 0, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&other);
    MPI_Comm_free(&part);
}

static void exchange(int bytes)
{
    MPI_Isend(out, bytes, MPI_BYTE, right_neighbour(), 0, comm, &request);
    MPI_Recv(in, bytes, MPI_BYTE, left_neighbour(), 0, comm, IGNORE);
    MPI_Wait(&request, IGNORE);
}

static void send_strided(int to, int from)
{
    MPI_Datatype column;
    MPI_Type_vector(1000, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Isend(out, 1, column, to, 0, comm, &request);
    MPI_Recv(in, 1, column, from, 0, comm, IGNORE);
    MPI_Wait(&request, IGNORE);
    MPI_Type_free(&column);
}

static void barrier(void) { MPI_Barrier(WORLD); }
static void allreduce(void) { MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); }

static void sendrecv(void)
{
    MPI_Sendrecv(&one, 1, MPI_DOUBLE, right_neighbour(), 0, &sum, 1, MPI_DOUBLE, left_neighbour(), 0, WORLD, IGNORE);
}

static void duplicate(void) { MPI_Comm_dup(WORLD, &comm); }
static void send_short(void) { exchange(8); }
static void send_packets(void) { exchange(1 << 15); }
static void send_long(void) { exchange(LONG); }
static void send_vector(void) { send_strided(right_neighbour(), left_neighbour()); }
static void send_to_self(void) { send_strided(rank_of_world, rank_of_world); }

static void send_synchronously(void)
{
    MPI_Issend(&one, 1, MPI_DOUBLE, right_neighbour(), 3, comm, &request);
    MPI_Recv(&sum, 1, MPI_DOUBLE, left_neighbour(), 3, comm, IGNORE);
    MPI_Wait(&request, IGNORE);
}

static void probe(void)
{
    MPI_Message message;
    MPI_Isend(&one, 1, MPI_DOUBLE, right_neighbour(), 9, comm, &request);
    MPI_Probe(left_neighbour(), 9, comm, IGNORE);
    MPI_Mprobe(left_neighbour(), 9, comm, &message, IGNORE);
    MPI_Mrecv(&sum, 1, MPI_DOUBLE, &message, IGNORE);
    MPI_Wait(&request, IGNORE);
}

static void waitall(void)
{
    static int words[64];
    MPI_Request requests[64];
    for (int i = 0; i < 32; i++)
        MPI_Irecv(words + i, 1, MPI_INT, left_neighbour(), i, comm, requests + i);
    for (int i = 0; i < 32; i++)
        MPI_Isend(words + 32 + i, 1, MPI_INT, right_neighbour(), i, comm, requests + 32 + i);
    MPI_Waitall(64, requests, MPI_STATUSES_IGNORE);
}

/* Each operation, of so many bytes a block; the eighth and later of a communicator may share memory. */
static void collectives(int bytes)
{
    int elements = bytes / 8;
    MPI_Barrier(comm);
    MPI_Bcast(out, bytes, MPI_BYTE, 0, comm);
    MPI_Reduce(out, in, elements, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Allreduce(out, in, elements, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(out, in, elements / 2, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
    MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    MPI_Reduce_scatter_block(out, in, elements, MPI_INT, MPI_SUM, comm);
    MPI_Scan(out, in, elements, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Exscan(out, in, elements, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < size_of_world; i++) {
        counts[i] = elements, places[i] = elements * i;
        types[i] = MPI_BYTE;
    }
    MPI_Gatherv(out, elements, MPI_BYTE, in, counts, places, MPI_BYTE, 0, comm);
    MPI_Scatterv(out, counts, places, MPI_BYTE, in, elements, MPI_BYTE, 0, comm);
    MPI_Allgatherv(out, elements, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, comm);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
}

static void collectives_short(void) { collectives(16); }
static void collectives_long(void) { collectives(1 << 16); }

static void begun(void)
{
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, comm, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Ireduce_scatter_block(out, in, 8, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Allreduce_init(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, IGNORE);
    MPI_Request_free(&request);
}

static void idup(void)
{
    MPI_Comm_idup(comm, &other, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Comm_free(&other);
}

static void split(void)
{
    MPI_Comm_split(comm, rank_of_world % 2, 0, &other);
    MPI_Barrier(other);
    MPI_Comm_free(&other);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &other);
    MPI_Comm_disconnect(&other);
}

static void group(void)
{
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    MPI_Comm_create(comm, group, &other);
    MPI_Comm_free(&other);
    MPI_Group_free(&group);
}

static void topologies(void)
{
    int dims[2] = {size_of_world, 1}, periods[2] = {1, 0};
    int left = left_neighbour(), right = right_neighbour(), weight = 1;
    MPI_Cart_create(comm, 2, dims, periods, 1, &other);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, other);
    MPI_Comm_free(&other);
    MPI_Dist_graph_create_adjacent(comm, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &other);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, other);
    MPI_Comm_free(&other);
}

static void between(void)
{
    MPI_Comm part, merged;
    MPI_Comm_split(WORLD, rank_of_world == 0, 0, &part);
    MPI_Intercomm_create(part, 0, WORLD, rank_of_world == 0, 5, &other);
    MPI_Barrier(other);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, other);
    MPI_Intercomm_merge(other, rank_of_world, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&part);
    MPI_Comm_free(&other);
}

static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "small", MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    MPI_Group_free(&group);
    MPI_Barrier(other);
    MPI_Comm_free(&other);
    MPI_Session_finalize(&session);
}

static void win_allocate(void)
{
    void *base;
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, WORLD, &base, &window);
}

static void access_all(void)
{
    int to = right_neighbour();
    long zero = 0, found;
    MPI_Datatype strided;
    MPI_Type_vector(20, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    MPI_Win_fence(0, window);
    MPI_Put(&one, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 1, strided, to, 0, 1, strided, window);
    MPI_Win_fence(0, window);
    MPI_Get(&sum, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(out, 1, strided, to, 0, 1, strided, MPI_SUM, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
    MPI_Get_accumulate(&one, 1, MPI_DOUBLE, &sum, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(to, window);
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&zero, &found, MPI_LONG, to, 2, MPI_SUM, window);
    MPI_Compare_and_swap(&zero, &zero, &found, MPI_LONG, to, 2, window);
    MPI_Win_unlock_all(window);
    MPI_Type_free(&strided);
}

static void post_and_start(void)
{
    MPI_Group group;
    MPI_Comm_group(WORLD, &group);
    MPI_Win_post(group, 0, window);
    MPI_Win_start(group, 0, window);
    MPI_Put(&one, 1, MPI_DOUBLE, right_neighbour(), 0, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&group);
}

static void win_free(void) { MPI_Win_free(&window); }

static void win_others(void)
{
    MPI_Win_create(out, 1000, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_free(&window);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
    MPI_Win_attach(window, out, 1000);
    MPI_Win_detach(window, out);
    MPI_Win_free(&window);
}

static void win_shared(void)
{
    void *base;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &other);
    MPI_Win_allocate_shared(800, 8, MPI_INFO_NULL, other, &base, &window);
    MPI_Win_free(&window);
    MPI_Comm_free(&other);
}

static void errors(void)
{
    int length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Send(&one, 1, MPI_DOUBLE, size_of_world, 0, comm), MPI_ERR_RANK, "MPI-5.0 §9.3");
    CHECK_CLASS(MPI_Bcast(out, -1, MPI_INT, 0, comm), MPI_ERR_COUNT, "MPI-5.0 §9.3");
    MPI_Error_string(MPI_ERR_RANK, text, &length);
}

static void buffered(void)
{
    static char buffer[1000];
    void *detached;
    int length;
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(&one, 1, MPI_DOUBLE, right_neighbour(), 3, comm);
    MPI_Recv(&sum, 1, MPI_DOUBLE, left_neighbour(), 3, comm, IGNORE);
    MPI_Buffer_detach(&detached, &length);
}

static void partitioned(void)
{
    MPI_Request receive;
    MPI_Psend_init(out, 2, 4, MPI_INT, right_neighbour(), 4, comm, MPI_INFO_NULL, &request);
    MPI_Precv_init(in, 2, 4, MPI_INT, left_neighbour(), 4, comm, MPI_INFO_NULL, &receive);
    MPI_Start(&request);
    MPI_Start(&receive);
    MPI_Pready_range(0, 1, request);
    MPI_Wait(&request, IGNORE);
    MPI_Wait(&receive, IGNORE);
    MPI_Request_free(&request);
    MPI_Request_free(&receive);
}

static void tools(void)
{
    int provided, index, count;
    unsigned long long value;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_pvar_get_num(&count);
    MPI_T_pvar_session_create(&session);
    if (MPI_T_pvar_get_index("weft_lanes_used", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS) {
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
        MPI_T_pvar_read(session, handle, &value);
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void comm_free(void) { MPI_Comm_free(&comm); }
static void nothing(void) {}

#define STEP(name) {#name, name}
static const struct step_of_name {
    const char *name;
    step *go;
} first_steps[] = {
    STEP(first_allreduce), STEP(first_window), STEP(first_iallreduce), STEP(first_alltoallv), STEP(first_duplicate),
    STEP(first_between),
}, steps[] = {
    STEP(barrier), STEP(allreduce), STEP(sendrecv), STEP(duplicate), STEP(send_short), STEP(send_packets), STEP(send_long),
    STEP(send_vector), STEP(send_to_self), STEP(send_synchronously), STEP(probe), STEP(waitall), STEP(collectives_short),
    STEP(collectives_short), STEP(collectives_long), STEP(begun), STEP(idup), STEP(split), STEP(group), STEP(topologies),
    STEP(between), STEP(session), STEP(win_allocate), STEP(access_all), STEP(post_and_start), STEP(win_free),
    STEP(win_others), STEP(win_shared), STEP(errors), STEP(buffered), STEP(partitioned), STEP(tools), STEP(comm_free),
    STEP(nothing),
};

static void *run(void *go)
{
    (*(step **)go)();
    return NULL;
}

/* Bytes of the stack that were never touched. */
static size_t untouched(unsigned char *stack, step *go)
{
    pthread_t thread;
    pthread_attr_t attributes;
    memset(stack, PAINT, STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    CHECK(pthread_create(&thread, &attributes, run, &go) == 0, "a thread");
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    size_t left = 0;
    while (left < STACK && stack[left] == PAINT)
        left++;
    return left;
}

static void take(unsigned char *stack, const struct step_of_name *step, int says)
{
    size_t left = untouched(stack, step->go);
    if (says)
        printf("rank %d: %zu bytes of the stack: %s\n", rank_of_world, STACK - left, step->name);
    CHECK(left >= LEFT, "a stack of 16 KiB", "%s leaves %zu bytes", step->name, left);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv, "small_stacks");
    size_t page = sysconf(_SC_PAGESIZE);
    unsigned char *memory = mmap(NULL, page + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory, page, PROT_NONE) == 0, "memory for a stack");
    out = need(8 * LONG), in = need(8 * LONG);
    memset(out, 0, 8 * LONG);
    /* The world's own first call is one of these too, and they are kept: what is freed is given out anew. */
    MPI_Comm kept[COUNT(first_steps)];
    for (size_t i = 0; i < COUNT(first_steps); i++) {
        kept[i] = WORLD;
        if (i > 0)
            MPI_Comm_dup(WORLD, kept + i);
        untouched_yet = kept[i];
        take(memory + page, first_steps + i, argc > 1);
    }
    for (size_t i = 0; i < COUNT(steps); i++)
        take(memory + page, steps + i, argc > 1);
    for (size_t i = 1; i < COUNT(first_steps); i++)
        MPI_Comm_free(kept + i);
    free(out), free(in);
    return check_finish();
}
