/* collective-tune: time of each data-moving collective by bytes a rank, once as WeftMPI chooses its algorithm and
 * once by each algorithm, set through the control variables (MPI-5.0 §15.3.6) that WeftMPI has for it. */
#include "calls.h"

enum { TEXT = 1024 };

static void barrier(struct call *c, int turn)
{
    (void)c, (void)turn;
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool nothing_to_check(struct call *c, int turn)
{
    (void)c, (void)turn;
    return true;
}

static void scan(struct call *c, int turn)
{
    (void)turn;
    MPI_Scan(c->send, c->receive, c->bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static bool scan_right(struct call *c, int turn)
{
    (void)turn;
    int all = 0;
    for (int from = 0; from <= my_rank; from++)
        all += word(from, 0);
    return holds(c->receive, c->bytes, all);
}

/* What has several algorithms and is no benchmark of its own. */
static const struct call others[] = {
    {.name = "scan", .start = scan, .right = scan_right},
    {.name = "barrier", .start = barrier, .right = nothing_to_check},
};

enum { OTHERS = sizeof others / sizeof *others, ALL = CALLS + OTHERS };

static const struct call *call_of(int index)
{
    return index < CALLS ? &calls[index] : &others[index - CALLS];
}

/* A control variable for an operation's algorithm: 0 stands for WeftMPI's choice, 1 and so on for those that its description
 * numbers: "...: 0 by ..., 1 linear, 2 ring". */
struct choice {
    MPI_T_cvar_handle handle;
    char text[TEXT];
};

static bool find_choice(const char *operation, struct choice *choice)
{
    char name[TEXT], plain[TEXT];
    int index, count, length = TEXT, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    snprintf(plain, sizeof plain, "%s", operation);
    for (char *c = plain; *c; c++)
        if (*c == '-')
            *c = '_';
    snprintf(name, sizeof name, "weft_%.900s_algorithm", plain);
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS)
        return false;
    MPI_T_cvar_get_info(index, NULL, NULL, &verbosity, &type, &enumeration, choice->text, &length, &bind, &scope);
    return MPI_T_cvar_handle_alloc(index, NULL, &choice->handle, &count) == MPI_SUCCESS;
}

/* The algorithm's name; false if there are not so many. */
static bool name_of(const struct choice *choice, int number, char *name)
{
    char mark[32];
    snprintf(mark, sizeof mark, ", %d ", number);
    const char *at = strstr(choice->text, mark);
    return at && sscanf(at + strlen(mark), "%[^,]", name) == 1;
}

/* Takes `--skip OPERATION/ALGORITHM,...` out of the arguments: what cannot run among these ranks, and would measure something else. */
static const char *taken_skips(int *argc, char **argv)
{
    for (int i = 1; i + 1 < *argc; i++)
        if (!strcmp(argv[i], "--skip")) {
            const char *list = argv[i + 1];
            memmove(argv + i, argv + i + 2, (size_t)(*argc - i - 1) * sizeof *argv);
            *argc -= 2;
            return list;
        }
    return "";
}

static bool is_listed(const char *list, const char *series)
{
    size_t length = strlen(series);
    for (const char *at = list; (at = strstr(at, series)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

static void set(const struct choice *choice, unsigned long long number)
{
    /* All ranks are between two operations when it changes. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_T_cvar_write(choice->handle, &number) != MPI_SUCCESS)
        fail("collective-tune: algorithm %llu cannot be set", number);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The call by every algorithm, at one size. */
static void measure_all(const struct call *call, const struct choice *choice, const char *skips, unsigned char *send,
                        unsigned char *receive, int bytes, double seconds)
{
    static struct sampler s;
    char name[TEXT] = "chosen", series[2 * TEXT];
    int number = 0;
    do {
        snprintf(series, sizeof series, "%s/%s", call->name, name);
        if (is_listed(skips, series))
            continue;
        set(choice, (unsigned long long)number);
        measure_call(call, send, receive, bytes, seconds, &s);
        if (my_rank == 0)
            print_time("collective-tune", series, bytes, "us", &s, 1e6);
    } while (name_of(choice, ++number, name));
    set(choice, 0);
}

int main(int argc, char **argv)
{
    static struct choice choices[ALL];
    int provided;
    const char *skips = taken_skips(&argc, argv);
    struct options o = read_options(argc, argv, "sizes", "8,64,512,4K,32K,256K,1M", 0.05);
    start(&argc, &argv, "collective-tune", MPI_THREAD_SINGLE, 0);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    for (int i = 0; i < ALL; i++)
        if (!find_choice(call_of(i)->name, &choices[i]))
            fail("collective-tune: no control variable for the algorithm of %s; only WeftMPI has them", call_of(i)->name);
    for (int p = 0; p < o.count; p++) {
        int bytes = (int)o.points[p];
        unsigned char *send = call_input(bytes), *receive = pages(call_room(bytes));
        /* A barrier has no bytes: once is enough. */
        for (int i = 0; i < (p ? ALL - 1 : ALL); i++)
            measure_all(call_of(i), &choices[i], skips, send, receive, bytes, o.seconds);
        free(send);
        free(receive);
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
