/* Rank 1, in which liar.c is preloaded, lies about each word in turn that it sends in a call in which processes tell
 * each other something. The others get an error that says so or a result, and go on; or they end the connections to each other, and the job
 * ends with that word. Arguments: a folder, the lie, the call's name, the first word. */
#include "expect.h"
#include <stdlib.h>
#include <string.h>

void lie_at(long word, long value) __attribute__((weak));
int lie_told(void) __attribute__((weak));

enum { LIAR = 1, MOST_WORDS = 4000, PARTS = 4 };

static int rank, size, errors, word;
static long lie;
static MPI_Comm apart, group;
static char path[4096];

/* From here on rank 1 lies, about word `word`. */
static void begin(void)
{
    if (rank == LIAR)
        lie_at(word, lie);
}

static int made(int code)
{
    if (code) {
        int class, length;
        char text[MPI_MAX_ERROR_STRING];
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
        if (getenv("LIED_TO_SHOW"))
            printf("rank %d, word %d: class %d: %s\n", rank, word, class, text), fflush(stdout);
        errors += rank != LIAR;
    }
    return code == MPI_SUCCESS;
}

static void open_file(void)
{
    MPI_File file;
    begin();
    if (made(MPI_File_open(apart, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file)))
        made(MPI_File_close(&file));
}

static void set_view(void)
{
    MPI_File file;
    MPI_Datatype vector, type;
    MPI_Type_vector(100, 3, 7, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2800, &type);
    MPI_Type_commit(&type);
    if (made(MPI_File_open(apart, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))) {
        static int data[300];
        MPI_Status status;
        begin();
        made(MPI_File_set_view(file, 12L * rank, MPI_INT, type, "native", MPI_INFO_NULL));
        made(MPI_File_write_all(file, data, 300, MPI_INT, &status));
        made(MPI_File_read_at_all(file, 0, data, 300, MPI_INT, &status));
        made(MPI_File_write_ordered(file, data, 3, MPI_INT, &status));
        made(MPI_File_set_size(file, 4096));
        made(MPI_File_close(&file));
    }
    MPI_Type_free(&vector);
    MPI_Type_free(&type);
}

/* A view that is a long list of its own. */
static void listed_view(void)
{
    MPI_File file;
    MPI_Datatype type;
    static int places[3000];
    static char data[3000];
    for (int at = 0; at < 3000; at++)
        places[at] = 7 * at + at % 3;
    MPI_Type_create_indexed_block(3000, 1, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (made(MPI_File_open(apart, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))) {
        begin();
        made(MPI_File_set_view(file, rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
        made(MPI_File_write_all(file, data, 3000, MPI_BYTE, MPI_STATUS_IGNORE));
        made(MPI_File_close(&file));
    }
    MPI_Type_free(&type);
}

static void discard(MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL)
        made(MPI_Comm_free(&comm));
}

static void split(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    begin();
    if (made(MPI_Comm_split(apart, rank % 2, -rank, &comm)))
        discard(comm);
}

static void split_type(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    begin();
    if (made(MPI_Comm_split_type(apart, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm)))
        discard(comm);
}

static void dist_graph(void)
{
    MPI_Comm comm;
    int degree = 2, to[2] = {(rank + 1) % size, rank}, weights[2] = {3, 4};
    begin();
    if (made(MPI_Dist_graph_create(apart, 1, &rank, &degree, to, weights, MPI_INFO_NULL, 0, &comm)))
        discard(comm);
}

static void intercomm(void)
{
    MPI_Comm inter;
    begin();
    if (made(MPI_Intercomm_create(group, 0, apart, rank == LIAR ? 0 : LIAR, 5, &inter)))
        discard(inter);
}

/* Both groups tell each other, by their leaders. */
static void intercomm_split(void)
{
    MPI_Comm inter, part;
    if (made(MPI_Intercomm_create(group, 0, apart, rank == LIAR ? 0 : LIAR, 5, &inter))) {
        begin();
        if (made(MPI_Comm_split(inter, 0, rank, &part)))
            discard(part);
        discard(inter);
    }
}

static void window(void)
{
    MPI_Win win;
    static char memory[64];
    begin();
    if (made(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, apart, &win))) {
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        made(MPI_Win_free(&win));
    }
}

static void partitioned(void)
{
    static double data[PARTS];
    MPI_Request request;
    begin();
    if (rank == LIAR)
        for (int other = 0; other < size; other++) {
            if (other == LIAR)
                continue;
            MPI_Psend_init(data, PARTS, 1, MPI_DOUBLE, other, 3, apart, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            MPI_Pready_range(0, PARTS - 1, request);
            made(MPI_Wait(&request, MPI_STATUS_IGNORE));
            MPI_Request_free(&request);
        }
    else {
        MPI_Precv_init(data, PARTS, 1, MPI_DOUBLE, LIAR, 3, apart, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        made(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Request_free(&request);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} calls[] = {{"open", open_file}, {"set_view", set_view},       {"listed_view", listed_view}, {"split", split},
             {"split_type", split_type},   {"dist_graph", dist_graph},   {"intercomm", intercomm},
             {"intercomm_split", intercomm_split}, {"window", window},           {"partitioned", partitioned}};

/* One call in which a word is a lie: whether there was one. Less than 0 if there is no job any more. */
static int try(void (*call)(void))
{
    int told = 0;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &apart))
        return -1;
    MPI_Comm_set_errhandler(apart, MPI_ERRORS_RETURN);
    if (MPI_Comm_split(apart, rank == LIAR, rank, &group) || MPI_Barrier(MPI_COMM_WORLD))
        return -1;
    call();
    if (rank == LIAR) {
        told = lie_told();
        lie_at(-1, 0);
    }
    if (MPI_Bcast(&told, 1, MPI_INT, LIAR, MPI_COMM_WORLD))
        return -1;
    MPI_Comm_free(&group);
    MPI_Comm_free(&apart);
    return told;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/told", argv[1]);
    lie = strtol(argv[2], NULL, 0);
    word = atoi(argv[4]);
    if (rank == LIAR && !lie_at) {
        printf("no liar\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned call = 0;
    while (strcmp(calls[call].name, argv[3]))
        call++;
    int told = 1;
    for (; told > 0 && word < MOST_WORDS; word++)
        told = try(calls[call].run);
    if (told < 0)
        printf("rank %d ended at word %d\n", rank, word - 1);
    else
        printf("rank %d has no word %d, %d errors\n", rank, word - 1, errors);
    MPI_Finalize();
    return 0;
}
