/* rails ROUNDS [BYTES]: in each round all ranks send their neighbour on either side numbered short messages and a long one, on two
 * communicators whose numbers lead to different lanes, put into a window of the next one's, and add up; all is checked. With BYTES rank 0 sends
 * rank 1 so many a message instead, eight at a time, and says how fast. At the end each rank says what each adapter has carried, "carried
 * RANK VARIABLE VALUE" for the variables weft_rdma_* that tell of adapters and failovers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 40, LONGEST_SHORT = 3000, LONG = 1 << 20, PUT = 20000, MOST_VARIABLES = 32, AT_ONCE = 8 };

static int rank, size;
static MPI_T_pvar_session session;
static struct { char name[128]; MPI_T_pvar_handle handle; } variables[MOST_VARIABLES];
static int used;

static void fail(const char *what, int round)
{
    fprintf(stderr, "rails: rank %d, round %d: %s\n", rank, round, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int is_told(const char *name)
{
    const char *end = strrchr(name, '_');
    int is_of_adapter = strstr(name, "_sent_bytes") || strstr(name, "_read_bytes");
    return strncmp(name, "weft_rdma_", 10) == 0 && (is_of_adapter || strcmp(end, "_failovers") == 0 || strcmp(end, "_adapters") == 0);
}

static void watch(void)
{
    int given, all;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &given);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&all);
    for (int i = 0; i < all && used < MOST_VARIABLES; i++) {
        int length = sizeof variables[used].name, verbosity, class, bind, readonly, continuous, atomic, elements;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_pvar_get_info(i, variables[used].name, &length, &verbosity, &class, &type, &names, NULL, NULL, &bind, &readonly, &continuous, &atomic);
        if (!is_told(variables[used].name))
            continue;
        MPI_T_pvar_handle_alloc(session, i, NULL, &variables[used].handle, &elements);
        if (!continuous)
            MPI_T_pvar_start(session, variables[used].handle);
        used++;
    }
}

static void tell(void)
{
    for (int i = 0; i < used; i++) {
        unsigned long long value;
        MPI_T_pvar_read(session, variables[i].handle, &value);
        printf("carried %d %s %llu\n", rank, variables[i].name, value);
    }
    fflush(stdout);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void fill(unsigned char *bytes, size_t count, int owner, int round)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i / 64 * 61 + i + owner * 7 + round * 13);
}

static void check(const unsigned char *bytes, size_t count, int owner, int round)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != (unsigned char)(i / 64 * 61 + i + owner * 7 + round * 13))
            fail("other bytes than were sent", round);
}

static void exchange(MPI_Comm comm, int round)
{
    static unsigned char out[LONG], in[LONG], many[2][SHORT][LONGEST_SHORT];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request requests[2 * SHORT + 2];
    MPI_Status statuses[2 * SHORT + 2];
    int posted = 0;
    fill(out, LONG, rank, round);
    for (int i = 0; i < SHORT; i++) {
        fill(many[0][i], LONGEST_SHORT, rank, round * SHORT + i);
        MPI_Irecv(many[1][i], LONGEST_SHORT, MPI_BYTE, previous, 5, comm, &requests[posted++]);
    }
    MPI_Irecv(in, LONG, MPI_BYTE, previous, 6, comm, &requests[posted++]);
    for (int i = 0; i < SHORT; i++)
        MPI_Isend(many[0][i], 8 + 73 * i, MPI_BYTE, next, 5, comm, &requests[posted++]);
    MPI_Isend(out, LONG, MPI_BYTE, next, 6, comm, &requests[posted++]);
    MPI_Waitall(posted, requests, statuses);
    for (int i = 0; i < SHORT; i++) {
        int count;
        MPI_Get_count(&statuses[i], MPI_BYTE, &count);
        if (count != 8 + 73 * i)
            fail("messages in another order than they were sent in", round);
        check(many[1][i], (size_t)count, previous, round * SHORT + i);
    }
    check(in, LONG, previous, round);
}

static void rounds(int count)
{
    unsigned char *part, from[PUT];
    MPI_Win window;
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Win_allocate(PUT, 1, MPI_INFO_NULL, other, &part, &window);
    for (int round = 0; round < count; round++) {
        long one = round + rank, sum;
        exchange(round % 2 ? MPI_COMM_WORLD : other, round);
        fill(from, PUT, rank, round);
        MPI_Win_fence(0, window);
        MPI_Put(from, PUT, MPI_BYTE, (rank + 1) % size, 0, PUT, MPI_BYTE, window);
        MPI_Win_fence(0, window);
        check(part, PUT, (rank + size - 1) % size, round);
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, other);
        if (sum != (long)size * round + (long)size * (size - 1) / 2)
            fail("a wrong sum", round);
    }
    MPI_Win_free(&window);
    MPI_Comm_free(&other);
}

static void stream(int count, size_t bytes)
{
    unsigned char *data = malloc(AT_ONCE * bytes), go = 1;
    MPI_Request requests[AT_ONCE];
    double begin = 0;
    if (rank == 0)
        for (int i = 0; i < AT_ONCE; i++)
            fill(data + (size_t)i * bytes, bytes, 0, i);
    for (int at = -4; at < count / AT_ONCE; at++) {
        if (at == 0)
            begin = MPI_Wtime();
        for (int i = 0; i < AT_ONCE && rank < 2; i++) {
            unsigned char *one = data + (size_t)i * bytes;
            if (rank == 0)
                MPI_Isend(one, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(one, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
        }
        if (rank < 2)
            MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 1) {
        for (int i = 0; i < AT_ONCE; i++)
            check(data + (size_t)i * bytes, bytes, 0, i);
        MPI_Send(&go, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(&go, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double seconds = MPI_Wtime() - begin;
        printf("stream %.0f MB/s\n", (double)(count / AT_ONCE * AT_ONCE) * (double)bytes / seconds / 1e6);
    }
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2)
        fail("how many rounds?", 0);
    watch();
    if (argc > 2)
        stream(atoi(argv[1]), (size_t)atoll(argv[2]));
    else
        rounds(atoi(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    tell();
    if (rank == 0)
        printf("ok rails\n");
    MPI_Finalize();
    return 0;
}
