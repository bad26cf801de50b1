/* Cholesky factorisation by tiles, as task runtimes do it: A = L L^T, each tile operation a task, run by a team of threads
 * in every rank as soon as its inputs are there. No thread is set apart for communication: whoever finishes a tile sends
 * it, whoever finds no task looks for arrivals (MPI_THREAD_MULTIPLE).
 *
 *     mpicc cholesky.c -o cholesky -lm -pthread && mpiexec -n 4 cholesky [TILES [THREADS]]
 *
 * Tile (i, j), j <= i, belongs to one rank, which runs all tasks that change it, in this order:
 *     for k < j:  tile -= L(i, k) L(j, k)^T      once L(i, k) and L(j, k) are there
 *     at k = j:   factorise it (i = j), or solve with L(j, j), once that is there
 * Then it is a tile of L, and goes to the ranks that own a tile which needs it. A receive for every such tile of others is
 * posted before the work begins.
 */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 32, MAX_TILES = 64, BYTES = B * B * sizeof(double) };

typedef double matrix[B][B];

struct tile {
    matrix *values;
    int is_final; /* a tile of L; under `lock`, as is all below */
    int step;     /* k of the next task that changes it */
    int busy;     /* a thread is at it */
};

static struct tile tiles[MAX_TILES][MAX_TILES];
static int count, threads, rank, ranks, rows, columns;
static int left; /* tiles of this rank that are not final */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Receives of other ranks' tiles, and sends; the second mutex is for whoever looks for arrivals. */
static MPI_Request *receives, *sends;
static int (*received)[2], receive_count, send_count;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

static int owner(int i, int j) { return i % rows * columns + j % columns; }

/* L as it has to come out: a dominant diagonal, so that rounding stays small. */
static double expected(int row, int column) { return row == column ? 2 + row % 3 : sin(row + 2.0 * column) / (count * B); }

/* A = L L^T, of this tile's rows and columns. */
static void fill(matrix a, int i, int j)
{
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++) {
            int row = i * B + r, column = j * B + c, last = row < column ? row : column;
            a[r][c] = 0;
            for (int k = 0; k <= last; k++)
                a[r][c] += expected(row, k) * expected(column, k);
        }
}

static void update(matrix a, matrix l, matrix m)
{
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++) {
            double sum = 0;
            for (int k = 0; k < B; k++)
                sum += l[r][k] * m[c][k];
            a[r][c] -= sum;
        }
}

static void factorise(matrix a)
{
    for (int c = 0; c < B; c++)
        for (int r = c; r < B; r++) {
            for (int k = 0; k < c; k++)
                a[r][c] -= a[r][k] * a[c][k];
            a[r][c] = r == c ? sqrt(a[c][c]) : a[r][c] / a[c][c];
        }
}

/* a = a l^-T, for the tile's own diagonal tile l. */
static void solve(matrix a, matrix l)
{
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++) {
            for (int k = 0; k < c; k++)
                a[r][c] -= a[r][k] * l[c][k];
            a[r][c] /= l[c][c];
        }
}

/* Whether rank `who` owns a tile that L(i, j) is an input of: those of row i and of column i, right of column j, and, for
 * a diagonal tile, those below it. */
static int needs(int who, int i, int j)
{
    for (int k = j + 1; k <= i; k++)
        if (owner(i, k) == who)
            return 1;
    for (int k = i + 1; k < count; k++)
        if (owner(k, i) == who)
            return 1;
    return 0;
}

static void send_tile(int i, int j)
{
    for (int to = 0; to < ranks; to++)
        if (to != rank && needs(to, i, j)) {
            MPI_Request request;
            MPI_Isend(tiles[i][j].values, B * B, MPI_DOUBLE, to, i * MAX_TILES + j, MPI_COMM_WORLD, &request);
            pthread_mutex_lock(&lock);
            sends[send_count++] = request;
            pthread_mutex_unlock(&lock);
        }
}

/* A tile whose next task can run, marked busy: the leftmost, which most others wait for. */
static struct tile *take_task(int *i, int *j)
{
    struct tile *found = NULL;
    pthread_mutex_lock(&lock);
    for (*j = 0; *j < count; ++*j)
        for (*i = *j; *i < count; ++*i) {
            struct tile *tile = &tiles[*i][*j];
            if (owner(*i, *j) != rank || tile->is_final || tile->busy)
                continue;
            int k = tile->step, diagonal = *i == *j && k == *j;
            int first_there = k == *j || tiles[*i][k].is_final;
            if (diagonal || (first_there && tiles[*j][k].is_final)) {
                tile->busy = 1;
                found = tile;
                goto out;
            }
        }
out:
    pthread_mutex_unlock(&lock);
    return found;
}

static void run_task(struct tile *tile, int i, int j)
{
    int k = tile->step, last = k == j;
    if (!last)
        update(*tile->values, *tiles[i][k].values, *tiles[j][k].values);
    else if (i == j)
        factorise(*tile->values);
    else
        solve(*tile->values, *tiles[j][j].values);
    if (last)
        send_tile(i, j);
    pthread_mutex_lock(&lock);
    tile->step++;
    tile->busy = 0;
    tile->is_final = last;
    left -= last;
    pthread_mutex_unlock(&lock);
}

/* Marks the tiles that have arrived; one thread at a time, the others go on. */
static void look_for_arrivals(int *indices)
{
    int arrived = 0;
    if (receive_count == 0 || pthread_mutex_trylock(&looking) != 0)
        return;
    MPI_Testsome(receive_count, receives, &arrived, indices, MPI_STATUSES_IGNORE);
    pthread_mutex_lock(&lock);
    for (int n = 0; n < arrived; n++)
        tiles[received[indices[n]][0]][received[indices[n]][1]].is_final = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&looking);
}

static void *work(void *unused)
{
    int i, j, all_done = 0, *indices = malloc(sizeof(int) * (size_t)(receive_count + 1));
    while (!all_done) {
        struct tile *tile = take_task(&i, &j);
        if (tile)
            run_task(tile, i, j);
        else
            look_for_arrivals(indices), sched_yield();
        pthread_mutex_lock(&lock);
        all_done = left == 0;
        pthread_mutex_unlock(&lock);
    }
    free(indices);
    return unused;
}

static void prepare(void)
{
    size_t all = (size_t)count * count;
    receives = malloc(all * sizeof *receives);
    received = malloc(all * sizeof *received);
    sends = malloc(all * (size_t)ranks * sizeof *sends);
    for (int j = 0; j < count; j++)
        for (int i = j; i < count; i++) {
            int own = owner(i, j) == rank;
            if (!own && !needs(rank, i, j))
                continue;
            tiles[i][j].values = malloc(BYTES);
            if (own) {
                fill(*tiles[i][j].values, i, j);
                left++;
            } else {
                received[receive_count][0] = i, received[receive_count][1] = j;
                MPI_Irecv(tiles[i][j].values, B * B, MPI_DOUBLE, owner(i, j), i * MAX_TILES + j, MPI_COMM_WORLD,
                          &receives[receive_count++]);
            }
        }
}

static double error_of(int i, int j)
{
    double error = 0;
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B && j * B + c <= i * B + r; c++)
            error = fmax(error, fabs((*tiles[i][j].values)[r][c] - expected(i * B + r, j * B + c)));
    return error;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t team[64];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    count = argc > 1 ? atoi(argv[1]) : 12;
    threads = argc > 2 ? atoi(argv[2]) : 3;
    if (provided != MPI_THREAD_MULTIPLE || count < 1 || count > MAX_TILES || threads < 1 || threads > 64)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (rows = (int)sqrt(ranks); ranks % rows; rows--)
        ;
    columns = ranks / rows;
    prepare();

    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), error = 0, worst;
    for (int t = 0; t < threads; t++)
        pthread_create(&team[t], NULL, work, NULL);
    for (int t = 0; t < threads; t++)
        pthread_join(team[t], NULL);
    MPI_Waitall(send_count, sends, MPI_STATUSES_IGNORE);
    double seconds = MPI_Wtime() - begin;

    for (int j = 0; j < count; j++)
        for (int i = j; i < count; i++) {
            if (owner(i, j) == rank)
                error = fmax(error, error_of(i, j));
            free(tiles[i][j].values);
        }
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int wrong = !(worst < 1e-10);
    if (rank == 0)
        printf("cholesky: %d x %d, %d ranks of %d threads, %.3f s, error %.1e, %s\n", count * B, count * B, ranks, threads,
               seconds, worst, wrong ? "wrong" : "right");
    free(receives), free(received), free(sends);
    MPI_Finalize();
    return wrong;
}
