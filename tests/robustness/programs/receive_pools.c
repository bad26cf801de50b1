/* receive_pools [COMMAND [COMMUNICATORS [PPN]]]: all ranks talk to all, in messages of all sizes, checked; on the world, or on so many
 * copies of it, one after the other: their numbers lead to different lanes. With PPN to all but those of the same PPN ranks, and what
 * is counted then is that of before anything else. Then rank 0 tells, a line for each rank and
 * performance variable, `count RANK NAME VALUE` of the tools' interface (MPI-5.0 §15.3.7), the receive pools in use, and runs COMMAND
 * while the job stands. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 60000 };
static const int sizes[] = {0, 8, 200, 300, 1500, 3000, 9000, 16384, LONGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const char *const names[] = {
    "weft_rdma_lanes",          "weft_rdma_uars",                 "weft_rdma_uuars",
    "weft_rdma_completion_queues", "weft_rdma_queue_pairs",       "weft_rdma_xrc_send_queue_pairs",
    "weft_rdma_xrc_receive_queue_pairs", "weft_rdma_shared_receive_queues", "weft_rdma_receive_buffers",
    "weft_rdma_receive_bytes",
};
enum { NAMES = sizeof names / sizeof *names };
static int rank, size, ranks_a_host;

static void fail(const char *what)
{
    fprintf(stderr, "receive_pools: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Nobody, in place of a rank of the same host. */
static int partner(int other)
{
    return ranks_a_host && other / ranks_a_host == rank / ranks_a_host ? MPI_PROC_NULL : other;
}

static void talk(MPI_Comm comm)
{
    static unsigned char out[LONGEST], in[LONGEST];
    for (int step = 1; step < size; step++) {
        int to = partner((rank + step) % size), from = partner((rank - step + size) % size);
        for (int i = 0; i < SIZES; i++) {
            MPI_Status status;
            int count;
            memset(out, rank + i + 1, sizeof out);
            MPI_Sendrecv(out, sizes[i], MPI_BYTE, to, i, in, LONGEST, MPI_BYTE, from, i, comm, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            if (count != (from == MPI_PROC_NULL ? 0 : sizes[i]))
                fail("a message of the wrong length");
            for (int at = 0; at < count; at++)
                if (in[at] != (unsigned char)(from + i + 1))
                    fail("a message with other bytes than were sent");
        }
    }
}

static void count(unsigned long long *values)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < NAMES; i++) {
        MPI_T_pvar_handle handle;
        int index, ignored;
        if (MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_LEVEL, &index) != MPI_SUCCESS)
            fail(names[i]);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &ignored);
        MPI_T_pvar_read(session, handle, &values[i]);
    }
    MPI_T_pvar_session_free(&session);
}

static void tell_pools(void)
{
    char text[1024] = "";
    MPI_T_cvar_handle handle;
    int index, ignored;
    if (MPI_T_cvar_get_index("weft_receive_pools", &index) != MPI_SUCCESS)
        fail("no control variable weft_receive_pools");
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &ignored);
    MPI_T_cvar_read(handle, text);
    printf("pools %s\n", text);
    MPI_T_cvar_handle_free(&handle);
}

int main(int argc, char **argv)
{
    int provided;
    unsigned long long mine[NAMES], all[64 * NAMES];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 64)
        fail("more than 64 ranks");
    int copies = argc < 3 ? 0 : atoi(argv[2]);
    ranks_a_host = argc < 4 ? 0 : atoi(argv[3]);
    if (!copies)
        talk(MPI_COMM_WORLD);
    if (ranks_a_host) {
        count(mine);
        /* Nobody goes on, to talk within its host, before all have counted: a rank that ends the second of these has heard of all other
         * hosts that they had ended the first, for which they had to hear of all of this one. */
        talk(MPI_COMM_WORLD);
        talk(MPI_COMM_WORLD);
    }
    for (; copies > 0; copies--) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        talk(copy);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ranks_a_host)
        count(mine);
    MPI_Gather(mine, NAMES, MPI_UNSIGNED_LONG_LONG, all, NAMES, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int of = 0; of < size; of++)
            for (int i = 0; i < NAMES; i++)
                printf("count %d %s %llu\n", of, names[i], all[of * NAMES + i]);
        tell_pools();
        fflush(stdout);
        if (argc > 1 && system(argv[1]) != 0)
            fail("the command failed");
        printf("ok receive_pools\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
