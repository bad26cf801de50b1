/* windows: put, get and accumulate in windows of the program's own memory and in dynamic ones, of more bytes than one active message
 * moves, all checked, while the targets are inside MPI. Rank 0 prints "ok windows". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 50000, STRIDE = 3 };

static int rank, size;

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "windows: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void check(MPI_Win win, int *part, MPI_Aint start)
{
    static int out[COUNT], back[COUNT];
    int to = (rank + 1) % size, from = (rank + size - 1) % size, one = 1;
    MPI_Aint starts[64];
    MPI_Datatype every_third;
    MPI_Allgather(&start, 1, MPI_AINT, starts, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Type_vector(200, 1, STRIDE, MPI_INT, &every_third);
    MPI_Type_commit(&every_third);
    for (int i = 0; i < COUNT; i++)
        out[i] = rank * 1000000 + i;
    MPI_Win_fence(0, win);
    MPI_Put(out, COUNT, MPI_INT, to, starts[to], COUNT, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < COUNT; i++)
        require(part[i] == from * 1000000 + i, "wrong numbers put");
    MPI_Get(back, COUNT, MPI_INT, to, starts[to], COUNT, MPI_INT, win);
    require(back[0] == out[0] && back[COUNT - 1] == out[COUNT - 1], "wrong numbers got");
    MPI_Win_fence(0, win);
    MPI_Put(out, 200, MPI_INT, to, starts[to], 1, every_third, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 600; i++)
        require(part[i] == from * 1000000 + (i % STRIDE ? i : i / STRIDE), "wrong numbers put with gaps");
    MPI_Win_fence(0, win);
    for (int i = 0; i < 100; i++)
        MPI_Accumulate(&one, 1, MPI_INT, 0, starts[0], 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(NULL, back, MPI_INT, 0, starts[0], MPI_NO_OP, win);
    require(back[0] == 100 * size + (size - 1) * 1000000, "an update is lost");
    MPI_Win_fence(0, win);
    MPI_Type_free(&every_third);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint start;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *part = calloc(COUNT * STRIDE, sizeof *part);
    MPI_Win_create(part, COUNT * STRIDE * sizeof *part, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check(win, part, 0);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, part, COUNT * STRIDE * sizeof *part);
    MPI_Get_address(part, &start);
    check(win, part, start);
    MPI_Win_detach(win, part);
    MPI_Win_free(&win);
    free(part);
    if (rank == 0)
        printf("ok windows\n");
    MPI_Finalize();
    return 0;
}
