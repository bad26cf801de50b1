/* halo THREADS: a five-point stencil, of which ranks have columns and their threads rows (Zambre 2018, stencil). A thread exchanges the edges of
 * its rows with the threads of its number in the ranks to the west and to the east, on a communicator of its own, and reads its rank's other
 * rows where they are. Numbers wrap, so that each rank's result is exactly that of the whole plate computed alone. Each rank prints
 * "ok halo RANK LANES". */
#include "application.h"
#include <pthread.h>
#include <stdint.h>

enum { ROWS = 12, COLUMNS = 40, STEPS = 30 };

static uint32_t *plates[2];
static MPI_Comm copies[MOST_THREADS];
static MPI_Datatype edge;
static pthread_barrier_t step_ends;

/* Row by row, with a border of one cell. */
static size_t at(int row, int column, int width) { return (size_t)row * (width + 2) + column; }

static uint32_t *create_plate(int height, int width) { return calloc((size_t)(height + 2) * (width + 2), sizeof(uint32_t)); }

static void fill(uint32_t *plate, int height, int width, int first_column)
{
    for (int row = 1; row <= height; row++)
        for (int column = 1; column <= width; column++)
            plate[at(row, column, width)] = (uint32_t)row * 2654435761u ^ (uint32_t)(first_column + column) * 40503u;
}

static void step(const uint32_t *old, uint32_t *new, int first, int last, int width)
{
    for (int row = first; row <= last; row++)
        for (int column = 1; column <= width; column++)
            new[at(row, column, width)] = 5 * old[at(row, column, width)] + old[at(row - 1, column, width)] + 3 * old[at(row + 1, column, width)] +
                                          7 * old[at(row, column - 1, width)] + 9 * old[at(row, column + 1, width)];
}

static void exchange(uint32_t *plate, int first, MPI_Comm comm)
{
    enum { WESTWARD, EASTWARD };
    int west = rank > 0 ? rank - 1 : MPI_PROC_NULL, east = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Irecv(&plate[at(first, 0, COLUMNS)], 1, edge, west, EASTWARD, comm, &requests[0]);
    MPI_Irecv(&plate[at(first, COLUMNS + 1, COLUMNS)], 1, edge, east, WESTWARD, comm, &requests[1]);
    MPI_Isend(&plate[at(first, 1, COLUMNS)], 1, edge, west, WESTWARD, comm, &requests[2]);
    MPI_Isend(&plate[at(first, COLUMNS, COLUMNS)], 1, edge, east, EASTWARD, comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument, first = thread * ROWS + 1;
    for (int i = 0; i < STEPS; i++) {
        exchange(plates[i % 2], first, copies[thread]);
        step(plates[i % 2], plates[(i + 1) % 2], first, first + ROWS - 1, COLUMNS);
        pthread_barrier_wait(&step_ends);
    }
    return NULL;
}

static int count_wrong(void)
{
    int height = threads * ROWS, width = size * COLUMNS, wrong = 0;
    uint32_t *whole[2] = {create_plate(height, width), create_plate(height, width)};
    fill(whole[0], height, width, 0);
    for (int i = 0; i < STEPS; i++)
        step(whole[i % 2], whole[(i + 1) % 2], 1, height, width);
    for (int row = 1; row <= height; row++)
        for (int column = 1; column <= COLUMNS; column++)
            wrong += plates[STEPS % 2][at(row, column, COLUMNS)] != whole[STEPS % 2][at(row, rank * COLUMNS + column, width)];
    free(whole[0]);
    free(whole[1]);
    return wrong;
}

int main(int argc, char **argv)
{
    pthread_t running[MOST_THREADS];
    application_start(&argc, &argv);
    for (int i = 0; i < 2; i++)
        plates[i] = create_plate(threads * ROWS, COLUMNS);
    fill(plates[0], threads * ROWS, COLUMNS, rank * COLUMNS);
    MPI_Type_vector(ROWS, 1, COLUMNS + 2, MPI_UINT32_T, &edge);
    MPI_Type_commit(&edge);
    pthread_barrier_init(&step_ends, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    for (int i = 0; i < threads; i++)
        pthread_create(&running[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
    int wrong = count_wrong();
    if (wrong) {
        printf("rank %d: %d cells wrong\n", rank, wrong);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    printf("ok halo %d %llu\n", rank, counted(count("weft_rdma_lanes", MPI_T_PVAR_CLASS_LEVEL)));
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&copies[i]);
    MPI_Type_free(&edge);
    free(plates[0]);
    free(plates[1]);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
