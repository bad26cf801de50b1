/* collective-tune: time of each data-moving collective by bytes a rank, once as WeftMPI's table chooses its algorithm and
 * once by each algorithm, set through the control variables (MPI-5.0 §15.3.6) that WeftMPI has for it. */
#include "calls.h"

enum { TEXT = 1024 };

/* A control variable for an operation's algorithm: 0 stands for the table, 1 and so on for those that its description
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

static void set(const struct choice *choice, unsigned long long number)
{
    /* All ranks are between two operations when it changes. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_T_cvar_write(choice->handle, &number) != MPI_SUCCESS)
        fail("collective-tune: algorithm %llu cannot be set", number);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static struct sampler s;
    static struct choice choices[CALLS];
    int provided;
    struct options o = read_options(argc, argv, "sizes", "8,64,512,4K,32K,256K,1M", 0.05);
    start(&argc, &argv, "collective-tune", MPI_THREAD_SINGLE, 0);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    for (int i = 0; i < CALLS; i++)
        if (!find_choice(calls[i].name, &choices[i]))
            fail("collective-tune: no control variable for the algorithm of %s; only WeftMPI has them", calls[i].name);
    for (int p = 0; p < o.count; p++) {
        int bytes = (int)o.points[p];
        unsigned char *send = call_input(bytes), *receive = pages(call_room(bytes));
        for (int i = 0; i < CALLS; i++) {
            char name[TEXT] = "table", series[2 * TEXT];
            int number = 0;
            do {
                set(&choices[i], (unsigned long long)number);
                measure_call(&calls[i], send, receive, bytes, o.seconds, &s);
                snprintf(series, sizeof series, "%s/%s", calls[i].name, name);
                if (my_rank == 0)
                    print_time("collective-tune", series, bytes, "us", &s, 1e6);
            } while (name_of(&choices[i], ++number, name));
            set(&choices[i], 0);
        }
        free(send);
        free(receive);
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
