/* stripes SECONDS BYTES: for that long two ranks send each other messages of so many bytes, one way and both at once, contiguous and in long
 * runs, with short ones between, and check them. Each rank says "running RANK PID" once both have begun, and at the end what went by each
 * interface: "carried RANK VARIABLE VALUE" for the variables weft_tcp_* that count. */
#include "check.h"
#include <unistd.h>

enum { MOST_VARIABLES = 64, RUN = 3000, STRIDE = 3500 };

static MPI_T_pvar_session session;
static struct { char name[128]; MPI_T_pvar_handle handle; } variables[MOST_VARIABLES];
static int used;

static void watch(void)
{
    int given, all;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &given);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&all);
    for (int i = 0; i < all && used < MOST_VARIABLES; i++) {
        char *name = variables[used].name;
        int length = sizeof variables[used].name, verbosity, class, bind, readonly, continuous, atomic, elements;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &names, NULL, NULL, &bind, &readonly, &continuous, &atomic);
        if (strncmp(name, "weft_tcp_", 9) != 0 || type != MPI_UNSIGNED_LONG_LONG)
            continue;
        MPI_T_pvar_handle_alloc(session, i, NULL, &variables[used].handle, &elements);
        REQUIRE(elements == 1);
        if (!continuous)
            REQUIRE(MPI_T_pvar_start(session, variables[used].handle) == MPI_SUCCESS);
        used++;
    }
    REQUIRE(used > 0);
}

static void tell(void)
{
    for (int i = 0; i < used; i++) {
        unsigned long long value;
        REQUIRE(MPI_T_pvar_read(session, variables[i].handle, &value) == MPI_SUCCESS);
        printf("carried %d %s %llu\n", rank, variables[i].name, value);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

/* The place of packed byte `i` of a message in runs. */
static size_t place(size_t i, int in_runs) { return in_runs ? i / RUN * STRIDE + i % RUN : i; }

static unsigned char pattern_of(int owner, int round, size_t i) { return pattern(owner, round, i / 64 * 61 + i % 64); }

int main(int count, char **words)
{
    begin(&count, &words);
    REQUIRE(size == 2 && count > 2);
    double until = MPI_Wtime() + atof(words[1]);
    size_t runs = (size_t)atoll(words[2]) / RUN, bytes = runs * RUN;
    unsigned char *out = memory(runs * STRIDE), *in = memory(runs * STRIDE);
    MPI_Datatype strided;
    MPI_Type_vector((int)runs, RUN, STRIDE, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
    watch();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("running %d %d\n", rank, (int)getpid());
    fflush(stdout);
    int other = 1 - rank, rounds = 0;
    for (int going = 1; going; rounds++) {
        /* Either way alone, then both; either side in runs. */
        int sends = rounds % 3 != rank, receives = rounds % 3 != other, in_runs[2] = {rounds & 1, rounds >> 1 & 1};
        int mine = in_runs[rank];
        MPI_Request requests[4];
        int posted = 0, number = -1;
        for (size_t i = 0; i < bytes; i++)
            out[place(i, mine)] = pattern_of(rank, rounds, i);
        memset(in, 0, runs * STRIDE);
        if (receives) {
            MPI_Irecv(in, mine ? 1 : (int)bytes, mine ? strided : MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[posted++]);
            MPI_Irecv(&number, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[posted++]);
        }
        if (sends) {
            MPI_Isend(out, mine ? 1 : (int)bytes, mine ? strided : MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[posted++]);
            MPI_Isend(&rounds, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[posted++]);
        }
        MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
        if (receives) {
            REQUIRE(number == rounds);
            for (size_t i = 0; i < bytes; i++)
                REQUIRE(in[place(i, mine)] == pattern_of(other, rounds, i));
        }
        going = MPI_Wtime() < until;
        MPI_Bcast(&going, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    tell();
    if (rank == 0)
        printf("%d rounds of %zu bytes\n", rounds, bytes);
    MPI_Type_free(&strided);
    free(out), free(in);
    end("stripes");
    return 0;
}
