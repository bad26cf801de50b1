/* stress SECONDS SEED [KIND...]: all kinds (or those named) of requests under way together, in THREADS threads of every process, on communicators of
 * all threads and of their own; all data checked. After a fifth of the time and at the end the process tells what it holds:
 * memory, shared memory, connections, descriptors; more than a bound is a failure. Rank 0 ends with "ok stress". */
#include "stress.h"
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a process may hold more at the end than when it was warm; and of shared memory, whose rings come and go with the
 * traffic, at any time. */
#ifndef GROWTH_MIB
#define GROWTH_MIB 8
#endif
enum { SEGMENT_MIB = 48, ATTACHED_BYTES = 16 << 20 };
/* Of each process of the host, where there is an adapter in software: its queues and all buffers of the library's lanes. */
enum { DEVICE_MIB = 128 };
/* The first messages make them: to a peer on another host two on each of 16 lanes; besides those there is one to the launcher, and one
 * on which others' are awaited in each family of addresses. */
enum { CONNECTIONS_OF_PEER = 32, CONNECTIONS_OF_JOB = 3 };

int rank, size;
uint32_t base_seed;
MPI_Comm shared;
unsigned char *constant;
static double deadline; /* of the phase, in MPI_Wtime of rank 0 */
static struct worker workers[THREADS];

/* Messages and collectives come more often than what there is little of. */
static int kinds_used;
int uses_windows, uses_files;
static const struct kind *kinds[] = {
    &message_kind, &message_kind, &message_kind, &message_kind, &exchange_kind, &cancelled_kind, &wild_kind,
    &collective_kind, &collective_kind, &collective_kind, &neighbour_kind, &intercommunicator_kind, &duplicate_kind,
    &access_kind, &access_kind, &partitioned_kind, &partitioned_kind, &generalized_kind,
    &file_kind, &file_kind,
};

void fail(const struct worker *worker, const struct operation *op, const char *format, ...)
{
    char text[1024];
    va_list args;
    int used = snprintf(text, sizeof text / 2, "stress: seed %u, rank %d, thread %d, batch %d, round %d", base_seed, rank,
                        worker->thread, worker->batch, worker->round);
    if (op)
        used += snprintf(text + used, sizeof text / 4, ", %s %d of form %d/%d, shift %d: ", op->kind->name, op->number, op->form,
                         op->other_form, op->shift);
    else
        used += snprintf(text + used, sizeof text / 4, ": ");
    va_start(args, format);
    vsnprintf(text + used, sizeof text - (size_t)used - 1, format, args);
    va_end(args);
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

MPI_Request *request_of(struct operation *op, struct worker *worker)
{
    if (worker->round == 0 && op->requests == 0)
        op->first = worker->used;
    int place = op->first + op->requests++;
    if (worker->round == 0)
        worker->requests[worker->used++] = MPI_REQUEST_NULL;
    return &worker->requests[place];
}

const MPI_Status *status_of(const struct operation *op, const struct worker *worker, int which)
{
    return worker->status_known[op->first + which] ? &worker->statuses[op->first + which] : NULL;
}

void free_requests(struct operation *op, struct worker *worker)
{
    for (int i = 0; i < op->requests; i++)
        if (worker->requests[op->first + i] != MPI_REQUEST_NULL)
            MPI_Request_free(&worker->requests[op->first + i]);
}

void *take(struct worker *worker, size_t bytes)
{
    size_t at = worker->arena_used;
    worker->arena_used += (bytes + 63) / 64 * 64;
    if (worker->arena_used > ARENA_BYTES)
        fail(worker, NULL, "a batch needs more than its arena");
    return worker->arena + at;
}

/* Mostly short, of every magnitude; less when little of the arena is left. */
size_t draw_bytes(struct worker *worker, size_t most)
{
    int one = below(&worker->together, 21), other = below(&worker->together, 21);
    size_t bytes = (size_t)below(&worker->together, 2 << (one < other ? one : other));
    size_t left = (ARENA_BYTES - worker->arena_used) / 32;
    bytes = bytes > left ? left : bytes;
    bytes = bytes > most ? most : bytes;
    return below(&worker->together, 2) ? bytes : bytes / 16 * 16;
}

static void wait_in_turn(struct worker *worker, int from_last)
{
    for (int k = 0; k < worker->used; k++) {
        int i = from_last ? worker->used - 1 - k : k;
        int was_null = worker->requests[i] == MPI_REQUEST_NULL;
        MPI_Wait(&worker->requests[i], &worker->statuses[i]);
        worker->status_known[i] = !was_null;
    }
}

static void test_in_turn(struct worker *worker, int ask_first)
{
    char done[REQUESTS] = { 0 };
    for (int left = worker->used; left > 0; sched_yield())
        for (int i = 0; i < worker->used; i++) {
            int flag = 0, was_null = worker->requests[i] == MPI_REQUEST_NULL;
            if (done[i])
                continue;
            if (ask_first)
                MPI_Request_get_status(worker->requests[i], &flag, MPI_STATUS_IGNORE);
            if (!ask_first || flag)
                MPI_Test(&worker->requests[i], &flag, &worker->statuses[i]);
            if (!flag)
                continue;
            worker->status_known[i] = !was_null;
            done[i] = 1;
            left--;
        }
}

static void one_by_one(struct worker *worker, int waiting)
{
    for (;;) {
        int index = MPI_UNDEFINED, flag = 1;
        MPI_Status status;
        if (waiting)
            MPI_Waitany(worker->used, worker->requests, &index, &status);
        else
            MPI_Testany(worker->used, worker->requests, &index, &flag, &status);
        if (flag && index == MPI_UNDEFINED)
            return;
        if (flag) {
            worker->statuses[index] = status;
            worker->status_known[index] = 1;
        } else {
            sched_yield();
        }
    }
}

static void some_at_a_time(struct worker *worker, int waiting)
{
    int indices[REQUESTS], count;
    MPI_Status statuses[REQUESTS];
    for (;;) {
        if (waiting)
            MPI_Waitsome(worker->used, worker->requests, &count, indices, statuses);
        else
            MPI_Testsome(worker->used, worker->requests, &count, indices, statuses);
        if (count == MPI_UNDEFINED)
            return;
        for (int k = 0; k < count; k++) {
            worker->statuses[indices[k]] = statuses[k];
            worker->status_known[indices[k]] = 1;
        }
        if (count == 0)
            sched_yield();
    }
}

/* Of null and inactive requests a status is empty and says nothing (MPI-5.0 §3.7.3). */
static void all_at_once(struct worker *worker, int waiting)
{
    int flag = 0;
    for (int i = 0; i < worker->used; i++)
        worker->status_known[i] = worker->requests[i] != MPI_REQUEST_NULL;
    if (waiting)
        MPI_Waitall(worker->used, worker->requests, worker->statuses);
    while (!waiting && MPI_Testall(worker->used, worker->requests, &flag, worker->statuses) == 0 && !flag)
        sched_yield();
}

static void complete(struct worker *worker)
{
    memset(worker->status_known, 0, sizeof worker->status_known);
    switch (below(&worker->alone, 10)) {
    case 0: all_at_once(worker, 0); break;
    case 1: one_by_one(worker, 1); break;
    case 2: one_by_one(worker, 0); break;
    case 3: some_at_a_time(worker, 1); break;
    case 4: some_at_a_time(worker, 0); break;
    case 5: wait_in_turn(worker, 0); break;
    case 6: wait_in_turn(worker, 1); break;
    case 7: test_in_turn(worker, 0); break;
    case 8: test_in_turn(worker, 1); break;
    default: all_at_once(worker, 1);
    }
    worker->completed += worker->used;
}

static void draw_batch(struct worker *worker)
{
    worker->arena_used = 0;
    worker->used = 0;
    worker->round = 0;
    for (int k = 0; k < OPERATIONS; k++) {
        struct operation *op = &worker->operations[k];
        memset(op, 0, sizeof *op);
        op->kind = kinds[below(&worker->together, kinds_used)];
        op->number = k;
        op->tag = (worker->batch % (1 << 20) * THREADS + worker->thread) * OPERATIONS + k;
        op->root = below(&worker->together, size);
        op->seed = (uint32_t)below(&worker->together, 1 << 19) * 31u;
        op->comm = worker->own;
        op->kind->draw(op, worker);
    }
}

static void run_batch(struct worker *worker)
{
    struct operation *operations = worker->operations;
    draw_batch(worker);
    int rounds = 1 + below(&worker->together, ROUNDS_MAX);
    for (; worker->round < rounds; worker->round++) {
        for (int k = 0; k < OPERATIONS; k++) {
            operations[k].requests = 0;
            operations[k].kind->start(&operations[k], worker);
        }
        for (int k = 0; k < OPERATIONS; k++)
            if (operations[k].kind->middle)
                operations[k].kind->middle(&operations[k], worker);
        complete(worker);
        for (int k = 0; k < OPERATIONS; k++)
            operations[k].kind->check(&operations[k], worker);
    }
    for (int k = 0; k < OPERATIONS; k++)
        if (operations[k].kind->end)
            operations[k].kind->end(&operations[k], worker);
    worker->batch++;
}

/* Stretches of batches until rank 0 says that it is time; the team meets after each. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int stop = 0; !stop;) {
        for (int i = 0; i < BATCHES_OF_A_STRETCH; i++)
            run_batch(worker);
        stop = rank == 0 && MPI_Wtime() > deadline;
        MPI_Bcast(&stop, 1, MPI_INT, 0, worker->own);
        check_counters(worker);
    }
    return NULL;
}

static void run_phase(double seconds)
{
    pthread_t threads[THREADS];
    deadline = MPI_Wtime() + seconds;
    start_completer();
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, &workers[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    stop_completer();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void create_worker(struct worker *worker, int thread)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, half = size / 2, upper = rank >= half;
    MPI_Comm side;
    worker->thread = thread;
    worker->together = base_seed * 977u + (uint32_t)thread;
    worker->alone = worker->together * 31u + (uint32_t)rank + 1;
    worker->arena = malloc(ARENA_BYTES);
    memset(worker->arena, 0, ARENA_BYTES); /* all of it counts from the beginning */
    MPI_Comm_dup(MPI_COMM_WORLD, &worker->own);
    MPI_Comm_dup(MPI_COMM_WORLD, &worker->second);
    MPI_Comm_dup(MPI_COMM_WORLD, &worker->wild);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &worker->grid);
    worker->between = MPI_COMM_NULL;
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &side);
        MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, upper ? 0 : half, thread, &worker->between);
        MPI_Comm_free(&side);
    }
    if (uses_windows)
        create_windows(worker);
    if (uses_files)
        create_file(worker);
}

static void free_worker(struct worker *worker)
{
    if (uses_windows)
        free_windows(worker);
    if (uses_files)
        free_file(worker);
    if (worker->between != MPI_COMM_NULL)
        MPI_Comm_free(&worker->between);
    MPI_Comm_free(&worker->grid);
    MPI_Comm_free(&worker->wild);
    MPI_Comm_free(&worker->second);
    MPI_Comm_free(&worker->own);
    free(worker->arena);
}

/* Keeps those kinds that are named, or all when none is. */
static void choose_kinds(int names, char **name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int chosen = names <= 0;
        for (int i = 0; i < names; i++)
            chosen |= strcmp(name[i], kinds[k]->name) == 0;
        if (!chosen)
            continue;
        kinds[kinds_used++] = kinds[k];
        uses_windows |= kinds[k] == &access_kind;
        uses_files |= kinds[k] == &file_kind;
    }
}

/* What a process holds: memory of its own, its segment of shared memory, connections to other processes, other descriptors; and where there is an
 * adapter in software, how many processes of the host it has to do with there, and their memory. */
struct footprint {
    long own_kib, segment_kib, connections, descriptors, devices, device_kib;
};

static struct footprint footprint(void)
{
    struct footprint held = { 0, 0, 0, 0, 0, 0 };
    char line[256], path[300], target[64];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "RssAnon: %ld", &held.own_kib);
    if (status)
        fclose(status);
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    struct stat file;
    while (folder && (entry = readdir(folder))) {
        memset(target, 0, sizeof target);
        snprintf(path, sizeof path, "/proc/self/fd/%.200s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (strncmp(target, "socket:", 7) == 0)
            held.connections++;
        else
            held.descriptors++;
        if (length <= 0 || strncmp(target, "/memfd:", 7) || stat(path, &file) != 0)
            continue;
        if (!strncmp(target, "/memfd:softrdma-process", 23)) {
            held.devices++;
            held.device_kib += file.st_blocks / 2;
        } else {
            held.segment_kib += file.st_blocks / 2;
        }
    }
    if (folder)
        closedir(folder);
    return held;
}

static int grew(const char *what, long before, long after, long bound)
{
    if (after <= before + bound)
        return 0;
    fprintf(stderr, "stress: seed %u, rank %d: %s grew from %ld to %ld\n", base_seed, rank, what, before, after);
    return 1;
}

static int has_grown(struct footprint before, struct footprint after)
{
    return grew("memory (KiB)", before.own_kib, after.own_kib, GROWTH_MIB * 1024L)
        + grew("shared memory (KiB)", 0, after.segment_kib, SEGMENT_MIB * 1024)
        + grew("memory of adapters in software (KiB)", 0, after.device_kib, after.devices * DEVICE_MIB * 1024)
        + grew("the number of connections", 0, after.connections, CONNECTIONS_OF_PEER * (size - 1) + CONNECTIONS_OF_JOB)
        + grew("the number of descriptors", before.descriptors, after.descriptors, 0);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    int provided, attached_bytes, bad, any_bad;
    long completed = 0, batches = 0;
    void *attached = malloc(ATTACHED_BYTES);
    base_seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    choose_kinds(argc - 3, argv + 3);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE || size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(attached, 0, ATTACHED_BYTES);
    MPI_Buffer_attach(attached, ATTACHED_BYTES);
    constant = malloc(LARGEST);
    fill(&(struct layout){ 0, LARGEST, LARGEST }, constant, (uint32_t)rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    create_reduction();
    for (int t = 0; t < THREADS; t++)
        create_worker(&workers[t], t);

    run_phase(seconds / 5);
    struct footprint warm = footprint();
    run_phase(seconds * 4 / 5);
    struct footprint end = footprint();
    bad = has_grown(warm, end);
    MPI_Reduce(&bad, &any_bad, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

    for (int t = 0; t < THREADS; t++) {
        completed += workers[t].completed;
        batches += workers[t].batch;
        free_worker(&workers[t]);
    }
    free_reduction();
    MPI_Comm_free(&shared);
    MPI_Buffer_detach(&attached, &attached_bytes);
    free(attached);
    free(constant);
    if (rank == 0 && !any_bad)
        printf("ok stress: seed %u, %ld batches and %ld requests of rank 0; memory %ld MiB, then %ld; shared %ld MiB, then %ld; "
               "of the device %ld MiB, then %ld; %ld connections, %ld descriptors\n", base_seed, batches, completed, warm.own_kib >> 10, end.own_kib >> 10,
               warm.segment_kib >> 10, end.segment_kib >> 10,
               warm.device_kib >> 10, end.device_kib >> 10, end.connections, end.descriptors);
    MPI_Finalize();
    return bad;
}
