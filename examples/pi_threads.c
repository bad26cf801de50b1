/* MPI and threads together: every thread of every rank computes slices of pi and sends them itself.
 *
 *     mpicc -pthread pi_threads.c -o pi_threads && mpiexec -n 4 pi_threads
 *
 * With MPI_THREAD_MULTIPLE any thread may call MPI at any time. Each thread uses a tag of its own, so that the
 * messages of different threads never meet; nothing here is locked by the program.
 */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, SLICES_PER_THREAD = 8, STEPS = 20000 };

static int rank, size;

/* The integral of 4 / (1 + x^2) over the given slice of [0, 1], by the midpoint rule. */
static double integrate(int slice, int slices)
{
    double width = 1.0 / slices / STEPS, sum = 0;
    for (int step = 0; step < STEPS; step++) {
        double x = (double)slice / slices + (step + 0.5) * width;
        sum += 4.0 / (1.0 + x * x);
    }
    return sum * width;
}

/* A worker sends each of its slices to rank 0 as soon as it has it. */
static void *work(void *argument)
{
    int thread = (int)(long)argument;
    int slices = size * THREADS * SLICES_PER_THREAD;
    for (int i = 0; i < SLICES_PER_THREAD; i++) {
        double part = integrate((rank * THREADS + thread) * SLICES_PER_THREAD + i, slices);
        MPI_Send(&part, 1, MPI_DOUBLE, 0, thread, MPI_COMM_WORLD);
    }
    return NULL;
}

/* On rank 0, one collector per tag receives what the threads of that number send, from whichever rank is ready. */
static void *collect(void *argument)
{
    int thread = (int)(long)argument;
    static double sums[THREADS];
    for (int i = 0; i < size * SLICES_PER_THREAD; i++) {
        double part;
        MPI_Recv(&part, 1, MPI_DOUBLE, MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sums[thread] += part;
    }
    return &sums[thread];
}

int main(int argc, char **argv)
{
    int provided, wrong = 0;

    /* Ask for the level that is needed, and look at what was given. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "pi_threads: this MPI library does not provide MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    pthread_t workers[THREADS], collectors[THREADS];
    for (long t = 0; t < THREADS; t++) {
        if (rank == 0)
            pthread_create(&collectors[t], NULL, collect, (void *)t);
        pthread_create(&workers[t], NULL, work, (void *)t);
    }
    double pi = 0;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t], NULL);
        if (rank == 0) {
            void *sum;
            pthread_join(collectors[t], &sum);
            pi += *(double *)sum;
        }
    }
    if (rank == 0) {
        wrong = fabs(pi - 3.14159265358979) > 1e-9;
        printf("pi_threads: %d ranks x %d threads, pi = %.12f (%s)\n", size, THREADS, pi, wrong ? "wrong" : "right");
    }
    MPI_Finalize();
    return wrong;
}
