/* mixed FILE SEED SECONDS leave|stay: all ranks go through one sequence of operations, drawn from the seed: point-to-point in
 * every mode, collectives, windows. Errors return. A rank that is told that a process has ended says "told RANK"; then it leaves
 * without a word to the others, which have to be told of that as well, or it stays until its launcher ends it. FILE holds a line
 * of numbers for each rank, for whoever kills one and wants to know what the others are in: process id, round, operation. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 3 << 20, ATTACHED = 4 * LONGEST, RANKS = 64, PARTS = 4 };

struct state {
    _Atomic int64_t pid, round, operation, told;
};

static struct state *state;
static int rank, size, left, right, bytes, stays;
static MPI_Comm comm;
static char *out, *in, *attached, *own;
static uint32_t drawn;

static uint32_t draw(uint32_t below)
{
    drawn = drawn * 1664525u + 1013904223u;
    return (drawn >> 8) % below;
}

/* The end of a rank that was told. Only of a process that has ended anything may be told. */
static void told(int class)
{
    char line[80];
    int length = snprintf(line, sizeof line, "%s %d class %d\n", class == MPI_ERR_PROC_ABORTED ? "told" : "WRONG", rank, class);
    state[rank].told = class;
    int said = write(1, line, (size_t)length) == length;
    while (stays) pause();
    _exit(said && class == MPI_ERR_PROC_ABORTED ? 0 : 3);
}

static void call(int code)
{
    int class;
    if (code == MPI_SUCCESS) return;
    MPI_Error_class(code, &class);
    told(class);
}

static void wait_all(int count, MPI_Request *requests)
{
    MPI_Status statuses[8];
    int code = MPI_Waitall(count, requests, statuses), class;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_IN_STATUS) {
        call(code);
        return;
    }
    for (int i = 0; i < count; i++)
        if (statuses[i].MPI_ERROR != MPI_ERR_PENDING) call(statuses[i].MPI_ERROR);
    told(MPI_ERR_IN_STATUS);
}

static void exchange(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), int source)
{
    MPI_Request requests[2];
    call(MPI_Irecv(in, bytes, MPI_BYTE, source, 1, comm, &requests[0]));
    call(send(out, bytes, MPI_BYTE, right, 1, comm, &requests[1]));
    wait_all(2, requests);
}

static void standard(void) { exchange(MPI_Isend, left); }
static void synchronous(void) { exchange(MPI_Issend, left); }
static void any_source(void)
{
    exchange(MPI_Isend, MPI_ANY_SOURCE);
    call(MPI_Barrier(comm));
}

static void buffered(void)
{
    call(MPI_Bsend(out, bytes, MPI_BYTE, right, 2, comm));
    call(MPI_Recv(in, bytes, MPI_BYTE, left, 2, comm, MPI_STATUS_IGNORE));
    /* The next one finds the buffer empty, or nearly. */
    call(MPI_Barrier(comm));
}

static void blocking(void)
{
    call(MPI_Sendrecv(out, bytes, MPI_BYTE, right, 3, in, bytes, MPI_BYTE, left, 3, comm, MPI_STATUS_IGNORE));
}

static void persistent(void)
{
    MPI_Request requests[2];
    call(MPI_Recv_init(in, bytes, MPI_BYTE, left, 4, comm, &requests[0]));
    call(MPI_Ssend_init(out, bytes, MPI_BYTE, right, 4, comm, &requests[1]));
    for (int i = 0; i < 3; i++) {
        call(MPI_Startall(2, requests));
        wait_all(2, requests);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void partitioned(void)
{
    MPI_Request requests[2];
    call(MPI_Precv_init(in, PARTS, bytes / PARTS, MPI_BYTE, left, 5, comm, MPI_INFO_NULL, &requests[0]));
    call(MPI_Psend_init(out, PARTS, bytes / PARTS, MPI_BYTE, right, 5, comm, MPI_INFO_NULL, &requests[1]));
    call(MPI_Startall(2, requests));
    for (int i = 0; i < PARTS; i++) call(MPI_Pready((i + rank) % PARTS, requests[1]));
    wait_all(2, requests);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probed(void)
{
    MPI_Request request;
    MPI_Status status;
    call(MPI_Isend(out, bytes, MPI_BYTE, right, 6, comm, &request));
    call(MPI_Probe(left, 6, comm, &status));
    call(MPI_Recv(in, bytes, MPI_BYTE, left, 6, comm, MPI_STATUS_IGNORE));
    wait_all(1, &request);
}

static void matched_probe(void)
{
    MPI_Request request;
    MPI_Message message;
    call(MPI_Isend(out, bytes, MPI_BYTE, right, 7, comm, &request));
    call(MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, &message, MPI_STATUS_IGNORE));
    call(MPI_Mrecv(in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    wait_all(1, &request);
    call(MPI_Barrier(comm));
}

static void tested(void)
{
    MPI_Request requests[2];
    int done = 0;
    call(MPI_Irecv(in, bytes, MPI_BYTE, left, 8, comm, &requests[0]));
    call(MPI_Isend(out, bytes, MPI_BYTE, right, 8, comm, &requests[1]));
    while (!done) {
        int first, second;
        call(MPI_Test(&requests[0], &first, MPI_STATUS_IGNORE));
        call(MPI_Test(&requests[1], &second, MPI_STATUS_IGNORE));
        done = first && second;
    }
}

static void probing(void)
{
    MPI_Request request;
    call(MPI_Isend(out, bytes, MPI_BYTE, right, 9, comm, &request));
    for (int there = 0; !there;) call(MPI_Iprobe(left, 9, comm, &there, MPI_STATUS_IGNORE));
    call(MPI_Recv(in, bytes, MPI_BYTE, left, 9, comm, MPI_STATUS_IGNORE));
    wait_all(1, &request);
}

static void barrier(void) { call(MPI_Barrier(comm)); }
static void broadcast(void) { call(MPI_Bcast(out, bytes, MPI_BYTE, (int)draw((uint32_t)size), comm)); }
static void reduced(void) { call(MPI_Allreduce(out, in, bytes / 4, MPI_INT, MPI_SUM, comm)); }
static void gathered(void) { call(MPI_Gather(out, bytes / size, MPI_BYTE, in, bytes / size, MPI_BYTE, (int)draw((uint32_t)size), comm)); }
static void all_to_all(void) { call(MPI_Alltoall(out, bytes / size, MPI_BYTE, in, bytes / size, MPI_BYTE, comm)); }
static void scanned(void) { call(MPI_Scan(out, in, bytes / 4, MPI_INT, MPI_MAX, comm)); }

static void nonblocking(void)
{
    MPI_Request requests[3];
    call(MPI_Iallreduce(out, in, bytes / 8, MPI_INT, MPI_SUM, comm, &requests[0]));
    call(MPI_Ibarrier(comm, &requests[1]));
    call(MPI_Ialltoall(out, bytes / 2 / size, MPI_BYTE, in + LONGEST, bytes / 2 / size, MPI_BYTE, comm, &requests[2]));
    wait_all(3, requests);
}

static void persistent_collective(void)
{
    MPI_Request request;
    call(MPI_Allreduce_init(out, in, bytes / 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (int i = 0; i < 3; i++) {
        call(MPI_Start(&request));
        wait_all(1, &request);
    }
    MPI_Request_free(&request);
}

static void communicators(void)
{
    MPI_Comm copy, part;
    call(MPI_Comm_dup(comm, &copy));
    call(MPI_Comm_split(comm, rank % 2, 0, &part));
    call(MPI_Barrier(part));
    call(MPI_Comm_free(&part));
    call(MPI_Comm_free(&copy));
}

static MPI_Win window(int allocated)
{
    MPI_Win win;
    void *base;
    if (allocated)
        call(MPI_Win_allocate(LONGEST, 1, MPI_INFO_NULL, comm, &base, &win));
    else
        call(MPI_Win_create(own, LONGEST, 1, MPI_INFO_NULL, comm, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static void fences(MPI_Win win)
{
    call(MPI_Win_fence(0, win));
    call(MPI_Put(out, bytes, MPI_BYTE, right, 0, bytes, MPI_BYTE, win));
    call(MPI_Win_fence(0, win));
    call(MPI_Get(in, bytes, MPI_BYTE, left, 0, bytes, MPI_BYTE, win));
    call(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

static void posts(MPI_Win win)
{
    MPI_Group all, to, from;
    call(MPI_Comm_group(comm, &all));
    call(MPI_Group_incl(all, 1, &right, &to));
    call(MPI_Group_incl(all, 1, &left, &from));
    call(MPI_Win_post(from, 0, win));
    call(MPI_Win_start(to, 0, win));
    call(MPI_Accumulate(out, bytes / 4, MPI_INT, right, 0, bytes / 4, MPI_INT, MPI_SUM, win));
    call(MPI_Win_complete(win));
    call(MPI_Win_wait(win));
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static void locks(MPI_Win win)
{
    int64_t one = 1, before;
    int target = (int)draw((uint32_t)size);
    call(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    call(MPI_Put(out, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win));
    call(MPI_Win_unlock(target, win));
    call(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    call(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, right, 0, MPI_SUM, win));
    call(MPI_Win_flush(right, win));
    call(MPI_Win_unlock(right, win));
}

static void locked_all(MPI_Win win)
{
    MPI_Request request;
    call(MPI_Win_lock_all(0, win));
    call(MPI_Rput(out, bytes, MPI_BYTE, right, 0, bytes, MPI_BYTE, win, &request));
    wait_all(1, &request);
    call(MPI_Win_flush_all(win));
    call(MPI_Win_unlock_all(win));
}

static void windows(int allocated)
{
    static void (*const epochs[])(MPI_Win) = { fences, posts, locks, locked_all };
    MPI_Win win = window(allocated);
    for (int i = 0; i < 3; i++) epochs[draw(4)](win);
    call(MPI_Win_free(&win));
}

static void allocated_window(void) { windows(1); }
static void own_window(void) { windows(0); }

static void (*const operations[])(void) = {
    standard,  synchronous, any_source, buffered, blocking,    persistent,            partitioned,   probed,           matched_probe, tested,
    probing,   barrier,     broadcast,  reduced,  gathered,    all_to_all,            scanned,       nonblocking,      persistent_collective,
    communicators, allocated_window, own_window,
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 8, 1000, 20000, 200000, LONGEST };
    if (argc != 5) return 2;
    stays = strcmp(argv[4], "stay") == 0;
    int file = open(argv[1], O_RDWR);
    state = mmap(NULL, sizeof *state * RANKS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || state == MAP_FAILED) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    call(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    out = malloc(LONGEST), in = malloc(2 * LONGEST), attached = malloc(ATTACHED), own = malloc(LONGEST);
    memset(out, rank, LONGEST);
    MPI_Buffer_attach(attached, ATTACHED);
    drawn = (uint32_t)atoi(argv[2]);
    state[rank].pid = getpid();
    double end = seconds() + atof(argv[3]);
    for (int round = 0, on = 1; on; round++) {
        int choice = (int)draw(OPERATIONS);
        bytes = sizes[draw(5)];
        state[rank].round = round;
        state[rank].operation = choice;
        operations[choice]();
        if (round % 16 == 15) {
            on = seconds() < end;
            call(MPI_Bcast(&on, 1, MPI_INT, 0, comm));
        }
    }
    state[rank].operation = OPERATIONS;
    int detached;
    MPI_Buffer_detach(&attached, &detached);
    MPI_Finalize();
    printf("done %d\n", rank);
    return 0;
}
