/* global_array THREADS: C = A B on matrices cut into tiles that are spread over the windows of all ranks (Zambre 2018, global array): every thread
 * gets tiles of A and B, multiplies them and puts tiles of C. The owner compares each with a product by the definition; numbers are integers, so
 * that sums are exact. Each rank prints "ok global_array RANK WRITES READS LANES", what its adapter wrote and read, at least all that it moved. */
#include "application.h"
#include <pthread.h>

/* Windows have lanes, so several let threads use several. */
enum { TILES = 6, LONGEST_EDGE = 48, WINDOWS = 8 };
enum matrix { A, B, C };
/* Tiles of 512 bytes, and of 18 KiB, which go straight from and to the program's memory. */
static const int edges[] = {8, LONGEST_EDGE};

static int edge;
static double *parts[WINDOWS];
static MPI_Win windows[WINDOWS];

struct worker {
    pthread_t thread;
    int number;
    /* Tiles moved from and to other ranks. */
    unsigned long long gets, puts;
};

/* Where a tile is: tiles are dealt to the ranks in turn, and there to the windows. */
struct place {
    int owner, window, slot;
};

static struct place place(enum matrix matrix, int row, int column)
{
    int number = (matrix * TILES + row) * TILES + column, of_owner = number / size;
    return (struct place){number % size, of_owner % WINDOWS, of_owner / WINDOWS};
}

static double *tile_of(struct place at) { return parts[at.window] + (size_t)at.slot * edge * edge; }

static double element(enum matrix matrix, int row, int column) { return (row * (7 + matrix) + column * 3) % 11 - 5; }

static void fetch(struct worker *self, enum matrix matrix, int row, int column, double *tile)
{
    struct place at = place(matrix, row, column);
    int count = edge * edge;
    MPI_Get(tile, count, MPI_DOUBLE, at.owner, (MPI_Aint)at.slot * count, count, MPI_DOUBLE, windows[at.window]);
    MPI_Win_flush(at.owner, windows[at.window]);
    self->gets += at.owner != rank;
}

static void store(struct worker *self, int row, int column, const double *tile)
{
    struct place at = place(C, row, column);
    int count = edge * edge;
    MPI_Put(tile, count, MPI_DOUBLE, at.owner, (MPI_Aint)at.slot * count, count, MPI_DOUBLE, windows[at.window]);
    MPI_Win_flush(at.owner, windows[at.window]);
    self->puts += at.owner != rank;
}

static void add_product(double *sum, const double *left, const double *right)
{
    for (int row = 0; row < edge; row++)
        for (int k = 0; k < edge; k++)
            for (int column = 0; column < edge; column++)
                sum[row * edge + column] += left[row * edge + k] * right[k * edge + column];
}

static void *multiply(void *argument)
{
    struct worker *self = argument;
    size_t bytes = (size_t)edge * edge * sizeof(double);
    double *left = malloc(bytes), *right = malloc(bytes);
    for (int number = rank * threads + self->number; number < TILES * TILES; number += size * threads) {
        double *sum = calloc(1, bytes);
        for (int k = 0; k < TILES; k++) {
            fetch(self, A, number / TILES, k, left);
            fetch(self, B, k, number % TILES, right);
            add_product(sum, left, right);
        }
        store(self, number / TILES, number % TILES, sum);
        free(sum);
    }
    free(left);
    free(right);
    return NULL;
}

static void make(void)
{
    int slots = 3 * TILES * TILES / size / WINDOWS + 1;
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Aint bytes = (MPI_Aint)slots * edge * edge * (MPI_Aint)sizeof(double);
        MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &parts[i], &windows[i]);
        MPI_Win_lock_all(0, windows[i]);
    }
    for (int number = 0; number < 3 * TILES * TILES; number++) {
        int matrix = number / TILES / TILES, row = number / TILES % TILES, column = number % TILES;
        struct place at = place(matrix, row, column);
        for (int i = 0; at.owner == rank && i < edge * edge; i++)
            tile_of(at)[i] = matrix == C ? 0.5 : element(matrix, row * edge + i / edge, column * edge + i % edge);
    }
}

/* What was stored, or put before the barrier, is seen by all after it (MPI-5.0 §12.7). */
static void agree(void)
{
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_sync(windows[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_sync(windows[i]);
}

static int wrong_in_own(void)
{
    int wrong = 0;
    for (int number = 0; number < TILES * TILES; number++) {
        struct place at = place(C, number / TILES, number % TILES);
        for (int i = 0; at.owner == rank && i < edge * edge; i++) {
            int row = number / TILES * edge + i / edge, column = number % TILES * edge + i % edge;
            double sum = 0;
            for (int k = 0; k < TILES * edge; k++)
                sum += element(A, row, k) * element(B, k, column);
            wrong += tile_of(at)[i] != sum;
        }
    }
    return wrong;
}

static int run(unsigned long long *gets, unsigned long long *puts)
{
    struct worker workers[MOST_THREADS] = {0};
    make();
    agree();
    for (int i = 0; i < threads; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, multiply, &workers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        *gets += workers[i].gets;
        *puts += workers[i].puts;
    }
    agree();
    int wrong = wrong_in_own();
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_unlock_all(windows[i]);
        MPI_Win_free(&windows[i]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    unsigned long long gets = 0, puts = 0;
    application_start(&argc, &argv);
    MPI_T_pvar_handle writes = count("weft_rdma_writes", MPI_T_PVAR_CLASS_COUNTER), reads = count("weft_rdma_reads", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle lanes = count("weft_rdma_lanes", MPI_T_PVAR_CLASS_LEVEL);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        edge = edges[i];
        wrong += run(&gets, &puts);
    }
    if (wrong || counted(writes) < puts || counted(reads) < gets) {
        printf("rank %d: %d elements wrong, %llu writes of %llu, %llu reads of %llu\n", rank, wrong, counted(writes), puts, counted(reads), gets);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    printf("ok global_array %d %llu %llu %llu\n", rank, counted(writes), counted(reads), counted(lanes));
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
