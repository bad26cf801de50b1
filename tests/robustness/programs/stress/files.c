/* Files: nonblocking accesses, each process's own and collective ones, of a file of each team, in which the processes' pieces follow each
 * other in turn. Each operation has a slot for what it writes, read again when it is over, and one whose contents never change. */
#include "stress.h"
#include <unistd.h>

enum { WRITE_ALL, WRITE, READ_ALL, READ, FORMS };
enum { FILE_SLOT = 64 << 10, PIECE = 48 };

static MPI_Offset slot_at(const struct operation *op) { return (MPI_Offset)op->number * FILE_SLOT; }

/* What never changes lies behind what does. */
static MPI_Offset constant_at(int number) { return (MPI_Offset)(OPERATIONS + number) * FILE_SLOT; }

static uint32_t constant_seed(int number) { return 77u * (uint32_t)rank + (uint32_t)number; }

static void draw_file(struct operation *op, struct worker *worker)
{
    op->form = below(&worker->together, FORMS);
    op->bytes = draw_bytes(worker, FILE_SLOT);
    op->sent = draw_layout(worker, op->bytes);
    op->received = draw_layout(worker, op->bytes);
    op->out = take(worker, op->sent.span);
    op->in = take(worker, op->received.span);
}

static void start_file(struct operation *op, struct worker *worker)
{
    int writes = op->form == WRITE_ALL || op->form == WRITE, count;
    MPI_Request *request = request_of(op, worker);
    MPI_Datatype type;
    create_layout(writes ? &op->sent : &op->received, &type, &count);
    fill(&op->sent, op->out, seed_of(op, worker, rank));
    blank(&op->received, op->in);
    switch (op->form) {
    case WRITE_ALL: MPI_File_iwrite_at_all(worker->file, slot_at(op), op->out, count, type, request); break;
    case WRITE: MPI_File_iwrite_at(worker->file, slot_at(op), op->out, count, type, request); break;
    case READ_ALL: MPI_File_iread_at_all(worker->file, constant_at(op->number), op->in, count, type, request); break;
    default: MPI_File_iread_at(worker->file, constant_at(op->number), op->in, count, type, request);
    }
    MPI_Type_free(&type);
}

static void check_file(struct operation *op, struct worker *worker)
{
    int writes = op->form == WRITE_ALL || op->form == WRITE;
    const MPI_Status *status = status_of(op, worker, 0);
    MPI_Count moved = (MPI_Count)op->bytes;
    if (status)
        MPI_Get_elements_c(status, MPI_BYTE, &moved);
    if (moved != (MPI_Count)op->bytes)
        fail(worker, op, "moved %lld bytes of %zu", (long long)moved, op->bytes);
    if (writes) {
        MPI_Datatype type;
        int count;
        create_layout(&op->received, &type, &count);
        MPI_File_read_at(worker->file, slot_at(op), op->in, count, type, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
    if (!holds(&op->received, op->in, writes ? seed_of(op, worker, rank) : constant_seed(op->number)))
        fail(worker, op, "wrong data in %zu bytes", op->bytes);
}

const struct kind file_kind = { "file", draw_file, start_file, NULL, check_file, NULL };

/* Beside the program, where all hosts see it, and gone when it is closed. */
void create_file(struct worker *worker)
{
    char name[512] = "";
    MPI_Info info;
    MPI_Datatype piece, type;
    if (rank == 0) {
        ssize_t length = readlink("/proc/self/exe", name, sizeof name - 32);
        int descriptor = length > 0 ? mkstemp(strcpy(name + length, "-XXXXXX") - length) : -1;
        if (descriptor < 0)
            fail(worker, NULL, "no file beside the program");
        close(descriptor);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, worker->own);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(worker->own, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &worker->file);
    MPI_Info_free(&info);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * size, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(worker->file, (MPI_Offset)PIECE * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
    struct layout whole = { 0, FILE_SLOT, FILE_SLOT };
    unsigned char *bytes = malloc(FILE_SLOT);
    for (int number = 0; number < OPERATIONS; number++) {
        fill(&whole, bytes, constant_seed(number));
        MPI_File_write_at_all(worker->file, constant_at(number), bytes, FILE_SLOT, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    free(bytes);
    MPI_File_sync(worker->file);
    MPI_Barrier(worker->own);
}

void free_file(struct worker *worker) { MPI_File_close(&worker->file); }
