/* file_bereaved PHASES KIND PATH: rank 1 is killed at a moment of its own in a row of collective writes (KIND: blocking, nonblocking or split) of
 * interleaved ints; PHASES is romio_cb_write. The others must come out of it soon with an error, though of which call depends on the
 * moment, and then find every byte of the file that nobody writes as it was. Then they print "ok file_bereaved PHASES KIND PATH RANK". */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 5000, PIECE = 12, PIECES = 20000, TAIL = 7000, ROUNDS = 100000, ROOM = 4 /* cells: one of nobody's */ };
enum { BYTES = HEAD + PIECES * PIECE * ROOM + TAIL, GUARD = 0xee };

static unsigned char data[PIECES * PIECE], found[BYTES];
static int rank;

static void *kill_soon(void *unused)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    usleep((useconds_t)(moment.tv_nsec / 1000 % 30000));
    raise(SIGKILL);
    return unused;
}

static int write_all(MPI_File file, const char *kind)
{
    MPI_Request request;
    int code;
    if (strcmp(kind, "blocking") == 0)
        return MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    if (strcmp(kind, "split") == 0) {
        code = MPI_File_write_at_all_begin(file, 0, data, sizeof data, MPI_BYTE);
        return code ? code : MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    }
    code = MPI_File_iwrite_at_all(file, 0, data, sizeof data, MPI_BYTE, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void prepare(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(found, GUARD, sizeof found);
    if (descriptor < 0 || write(descriptor, found, sizeof found) != (ssize_t)sizeof found)
        MPI_Abort(MPI_COMM_WORLD, 2);
    close(descriptor);
}

/* Whether each byte is one that its process wrote, or one that was there. */
static int is_sound(const char *path)
{
    int descriptor = open(path, O_RDONLY);
    ssize_t there = pread(descriptor, found, sizeof found, 0);
    close(descriptor);
    for (ssize_t i = 0; i < there; i++) {
        ssize_t cell = (i - HEAD) / PIECE % ROOM;
        int is_written = i >= HEAD && i < BYTES - TAIL && cell < 3;
        if (found[i] != GUARD && !(is_written && found[i] == 'a' + cell)) {
            printf("byte %zd is %02x\n", i, found[i]);
            return 0;
        }
    }
    return there == BYTES;
}

int main(int argc, char **argv)
{
    const char *phases = argv[1], *kind = argv[2], *path = argv[3];
    int provided, class = 0;
    pthread_t killer;
    signal(SIGTERM, SIG_IGN);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        prepare(path);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, 'a' + rank, sizeof data);
    MPI_File file;
    MPI_Info info;
    MPI_Datatype piece, type;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", phases);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, PIECE * ROOM, &type);
    MPI_Type_commit(&type);
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &file);
    code = code ? code : MPI_File_set_view(file, HEAD + rank * PIECE, MPI_BYTE, type, "native", info);
    if (code)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 1)
        pthread_create(&killer, NULL, kill_soon, NULL);
    for (int round = 0; round < ROUNDS && code == MPI_SUCCESS; round++)
        code = write_all(file, kind);
    MPI_Error_class(code, &class);
    if (class == MPI_SUCCESS) {
        printf("rank %d had no error\n", rank);
        return 1;
    }
    if (is_sound(path))
        printf("ok file_bereaved %s %s %s %d\n", phases, kind, path, rank);
    return 0;
}
