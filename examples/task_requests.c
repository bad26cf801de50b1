/* Many outstanding requests, as a task runtime has them: every task waits for its input under its own tag, inputs
 * come from any rank in any order, and whichever task has its input runs next.
 *
 *     mpicc task_requests.c -o task_requests && mpiexec -n 4 task_requests [TASKS]
 *
 * Most MPI libraries search their queues of receives one by one, so this gets slower per task as TASKS grows.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 512 };

/* The order in which a rank sends is a permutation of the tasks that differs from rank to rank. */
static void shuffle(int *order, int n, unsigned seed)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)(seed % (unsigned)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* The task's input, computed by the rank that sends it and again by the one that checks it. */
static double input_of(int owner, int task) { return owner * 1e6 + task; }

int main(int argc, char **argv)
{
    int rank, size, tasks = argc > 1 ? atoi(argv[1]) : 10000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (tasks < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);

    double *inputs = malloc(sizeof(double) * (size_t)tasks), *outputs = malloc(sizeof(double) * (size_t)tasks);
    MPI_Request *receives = malloc(sizeof(MPI_Request) * (size_t)tasks);
    MPI_Request *sends = malloc(sizeof(MPI_Request) * (size_t)tasks);
    int *order = malloc(sizeof(int) * (size_t)tasks);
    double begin = MPI_Wtime();

    /* Every task's receive is posted before anything is computed. Which rank produces the input is not known here. */
    for (int task = 0; task < tasks; task++)
        MPI_Irecv(&inputs[task], 1, MPI_DOUBLE, MPI_ANY_SOURCE, task, MPI_COMM_WORLD, &receives[task]);

    /* Task t of rank r gets its input from rank (r + t) mod size: so this rank feeds task t of rank (rank - t). */
    shuffle(order, tasks, 12345u + (unsigned)rank);
    for (int i = 0; i < tasks; i++) {
        int task = order[i], owner = ((rank - task) % size + size) % size;
        outputs[i] = input_of(owner, task);
        MPI_Isend(&outputs[i], 1, MPI_DOUBLE, owner, task, MPI_COMM_WORLD, &sends[i]);
    }

    /* Run tasks as their inputs arrive. MPI_Waitany looks at all requests it is given, so it is given a window; a
     * completed request becomes MPI_REQUEST_NULL and is passed over. */
    int ran = 0, wrong = 0;
    for (int first = 0; first < tasks; first += BATCH) {
        int window = tasks - first < BATCH ? tasks - first : BATCH, index;
        MPI_Status status;
        for (;;) {
            MPI_Waitany(window, &receives[first], &index, &status);
            if (index == MPI_UNDEFINED)
                break; /* nothing of this window is left */
            int task = first + index;
            wrong += inputs[task] != input_of(rank, task) || status.MPI_SOURCE != (rank + task) % size;
            ran++;
        }
    }
    MPI_Waitall(tasks, sends, MPI_STATUSES_IGNORE);

    double seconds = MPI_Wtime() - begin;
    int mine[2] = {ran, wrong}, sums[2];
    MPI_Reduce(mine, sums, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        wrong = sums[1] != 0 || sums[0] != tasks * size;
        printf("task_requests: %d tasks on %d ranks, %.2f us a task, %s\n", sums[0], size, seconds * 1e6 / tasks,
               wrong ? "wrong" : "right");
    }
    free(inputs); free(outputs); free(receives); free(sends); free(order);
    MPI_Finalize();
    return rank == 0 && wrong;
}
