/* Each rank in turn waits for messages that come after pauses, from its own host and from others, which one receive or a test of several
 * threads may meet. It uses no processor meanwhile, and is awake soon after each: where wake-ups are lost, it wakes a quarter of
 * a second after it fell asleep. What a thread that was woken waits for a processor, on a machine that has much else to do, does not
 * count. */
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 60, PROCESSOR_MS = 60, LATE_MS = 40, ROUNDS = 3 };

static double now_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

/* How long the threads of this process have been ready to run and have not run; 0 where the kernel does not say. */
static double queued_ms(void)
{
    double sum_ns = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char path[300];
        double ran_ns, queued_ns;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file && fscanf(file, "%lf %lf", &ran_ns, &queued_ns) == 2)
            sum_ns += queued_ns;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return 1e-6 * sum_ns;
}

/* Of all messages of a wait, by several threads. */
static double late_ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void receive(int source, int tag)
{
    double sent, queued = queued_ms();
    MPI_Recv(&sent, 1, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* All hosts are this machine. */
    double late = now_ms(CLOCK_MONOTONIC) - sent;
    queued = queued_ms() - queued;
    /* A thread that has ended takes its part away. */
    if (queued > 0)
        late -= queued < late ? queued : late;
    pthread_mutex_lock(&lock);
    late_ms += late;
    pthread_mutex_unlock(&lock);
}

static void *receive_last(void *unused)
{
    (void)unused;
    receive(MPI_ANY_SOURCE, 2);
    return NULL;
}

/* Waits for one message of each other rank, and for one more in a thread of its own. */
static void wait_for_all(int in_threads)
{
    pthread_t thread;
    double begin = now_ms(CLOCK_MONOTONIC), used = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    late_ms = 0;
    if (in_threads)
        REQUIRE(pthread_create(&thread, NULL, receive_last, NULL) == 0);
    for (int i = 1; i < size; i++)
        receive(MPI_ANY_SOURCE, 1);
    if (in_threads)
        pthread_join(thread, NULL);
    else
        receive_last(NULL);
    begin = now_ms(CLOCK_MONOTONIC) - begin;
    used = now_ms(CLOCK_PROCESS_CPUTIME_ID) - used;
    late_ms /= size;
    if (used > PROCESSOR_MS || late_ms > LATE_MS)
        fprintf(stderr, "rank %d: %.0f ms of processor time in %.0f ms, awake %.0f ms after a message in the mean\n", rank, used, begin, late_ms);
    REQUIRE(used <= PROCESSOR_MS && late_ms <= LATE_MS);
}

/* After a pause that is this rank's own. */
static void send_to(int waiter, int tag)
{
    usleep(1000u * PAUSE_MS * (unsigned)((rank + size - waiter) % size));
    double sent = now_ms(CLOCK_MONOTONIC);
    MPI_Send(&sent, 1, MPI_DOUBLE, waiter, tag, MPI_COMM_WORLD);
}

int main(int count, char **words)
{
    int given;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &given);
    REQUIRE(given == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size > 1);
    for (int round = 0; round < ROUNDS; round++)
        for (int waiter = 0; waiter < size; waiter++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == waiter) {
                wait_for_all(round % 2);
            } else {
                send_to(waiter, 1);
                if ((rank + 1) % size == waiter)
                    send_to(waiter, 2);
            }
        }
    end("sleeps");
}
