/* masks, with MASKS=unlike or MASKS=bound: a job whose ranks run on unlike CPUs, as far as they can see: sched_getaffinity is this program's
 * own. With "unlike", ranks below half are bound to CPU 0 and the others may use CPUs 0 to 7; with "bound", rank R is bound to
 * CPU R. All ranks have to agree whether they are more than the cores, which MPI_T tells, and collective operations of all
 * sizes have to be right. Rank 0 prints "ok masks oversubscribed=N". */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (1 << 20)

static int rank, size;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask)
{
    const char *number = getenv("PMI_RANK"), *ranks = getenv("PMI_SIZE"), *kind = getenv("MASKS");
    int me = number ? atoi(number) : 0, all = ranks ? atoi(ranks) : 1;
    (void)pid;
    memset(mask, 0, bytes);
    if (kind && strcmp(kind, "bound") == 0)
        ((unsigned char *)mask)[me / 8] = (unsigned char)(1 << me % 8);
    else
        ((unsigned char *)mask)[0] = me < all / 2 ? 1 : 0xff;
    return 0;
}

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "masks: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* What MPI_T says about the state "weft_waiting". */
static int oversubscribed(void)
{
    int provided, index, count, state = -1;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    require(MPI_T_pvar_get_index("weft_waiting", MPI_T_PVAR_CLASS_STATE, &index) == MPI_SUCCESS, "no such variable");
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_read(session, handle, &state);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return state;
}

static void collective_operations(int count)
{
    static long long in[LARGEST / 8], out[LARGEST / 8];
    for (int i = 0; i < count; i++)
        in[i] = rank + i;
    MPI_Allreduce(in, out, count, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        require(out[i] == (long long)size * (size - 1) / 2 + (long long)size * i, "wrong sum");
    MPI_Bcast(rank == 1 ? in : out, count, MPI_LONG_LONG, 1, MPI_COMM_WORLD);
    for (int i = 0; i < count && rank != 1; i++)
        require(out[i] == 1 + i, "wrong broadcast");
    memset(out, 0, sizeof out);
    MPI_Allgather(in, count / size, MPI_LONG_LONG, out, count / size, MPI_LONG_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < count / size * size; i++)
        require(out[i] == i / (count / size) + i % (count / size), "wrong gather");
    MPI_Alltoall(in, count / size, MPI_LONG_LONG, out, count / size, MPI_LONG_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < count / size * size; i++)
        require(out[i] == i / (count / size) + rank * (count / size) + i % (count / size), "wrong exchange");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = oversubscribed(), states[64] = {0};
    require(size <= 64, "too many ranks");
    /* By plain messages, which do not depend on the state that is looked at. */
    if (rank != 0) {
        MPI_Send(&mine, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Recv(&states[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            require(states[i] == mine, "ranks do not agree whether they are more than the cores");
        }
    }
    for (int count = 1; count <= LARGEST / 8; count *= 2)
        for (int again = 0; again < 3; again++)
            collective_operations(count);
    if (rank == 0)
        printf("ok masks oversubscribed=%d\n", mine);
    MPI_Finalize();
    return 0;
}
