/* Says what every constant and handle of a header means to the library that is loaded: run on the header's own library and
 * on another, it must say the same. `names.h` lists the header's names as VALUE(name), made by run.py. One process. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* ---- what the header lists ---- */

#define VALUE(name) { #name, name },
static const struct { const char *name; MPI_Datatype type; } datatypes[] = {
#define DATATYPES
#include "names.h"
#undef DATATYPES
};
static const struct { const char *name; MPI_Op op; } operations[] = {
#define OPERATIONS
#include "names.h"
#undef OPERATIONS
};
static const struct { const char *name; int class; } classes[] = {
#define CLASSES
#include "names.h"
#undef CLASSES
};
static const struct { const char *name; int key; } comm_keys[] = {
#define COMM_KEYS
#include "names.h"
#undef COMM_KEYS
}, win_keys[] = {
#define WIN_KEYS
#include "names.h"
#undef WIN_KEYS
};
#define COUNT(list) (sizeof list / sizeof *list)

static void all_datatypes(void)
{
    for (size_t t = 0; t < COUNT(datatypes); t++) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length = -1, size = -1, n[4] = { -1, -1, -1, -1 };
        MPI_Aint lower = -1, extent = -1;
        int code = MPI_Type_size(datatypes[t].type, &size);
        MPI_Type_get_name(datatypes[t].type, name, &length);
        MPI_Type_get_extent(datatypes[t].type, &lower, &extent);
        MPI_Type_get_envelope(datatypes[t].type, n, n + 1, n + 2, n + 3);
        printf("%s: %d size %d extent %ld named %d, has a name %d\n", datatypes[t].name, class_of(code), size, (long)extent,
               n[3] == MPI_COMBINER_NAMED, length > 0);
    }
}

static void all_operations(void)
{
    for (size_t o = 0; o < COUNT(operations); o++) {
        struct { int value, at; } from = { 6, 1 }, to = { 3, 0 };
        int commutes = -1;
        int located = operations[o].op == MPI_MINLOC || operations[o].op == MPI_MAXLOC;
        MPI_Op_commutative(operations[o].op, &commutes);
        int only_windows = operations[o].op == MPI_REPLACE || operations[o].op == MPI_NO_OP;
        if (!only_windows)
            MPI_Reduce_local(&from, &to, 1, located ? MPI_2INT : MPI_INT, operations[o].op);
        printf("%s: commutes %d, 6 and 3 make %d at %d\n", operations[o].name, commutes, to.value, to.at);
    }
}

static void all_classes(void)
{
    for (size_t c = 0; c < COUNT(classes); c++) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = -1;
        MPI_Error_string(classes[c].class, text, &length);
        printf("%s: class %d, has a text %d\n", classes[c].name, class_of(classes[c].class), length > 0);
    }
    int class = -1, code = -1;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(MPI_ERR_INTERN, &code);
    printf("added: class of itself %d, class of a code %d\n", class_of(class) == class, class_of(code));
}

static void all_attributes(MPI_Win win)
{
    for (size_t k = 0; k < COUNT(comm_keys); k++) {
        int *value = NULL, flag = -1;
        int code = MPI_Comm_get_attr(MPI_COMM_WORLD, comm_keys[k].key, &value, &flag);
        int is_rank = comm_keys[k].key == MPI_IO || comm_keys[k].key == MPI_HOST;
        /* Whether there is one is the launcher's affair. */
        if (comm_keys[k].key != MPI_UNIVERSE_SIZE)
            printf("%s: %d flag %d value %d\n", comm_keys[k].name, class_of(code), flag, flag && is_rank ? *value : 0);
    }
    for (size_t k = 0; k < COUNT(win_keys); k++) {
        int *value = NULL, flag = -1;
        int code = MPI_Win_get_attr(win, win_keys[k].key, &value, &flag);
        int is_number = win_keys[k].key != MPI_WIN_BASE;
        printf("%s: %d flag %d value %d\n", win_keys[k].name, class_of(code), flag, flag && is_number ? *value : 0);
    }
}

/* ---- values by what they do ---- */

static void ranks_and_statuses(void)
{
    int word = 7, got = 0, flag = -1, count = -1;
    MPI_Status status = { 0 };
    MPI_Request request = MPI_REQUEST_NULL;
    status.MPI_ERROR = 77;
    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    printf("from none: %d %d %d error left %d\n", status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG == MPI_ANY_TAG, count,
           status.MPI_ERROR);
    MPI_Isend(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("from any: %d %d got %d null %d\n", status.MPI_SOURCE, status.MPI_TAG, got, request == MPI_REQUEST_NULL);
    MPI_Wait(&request, &status);
    printf("empty: %d %d %d\n", status.MPI_SOURCE == MPI_ANY_SOURCE, status.MPI_TAG == MPI_ANY_TAG, status.MPI_ERROR);
    MPI_Irecv(&got, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    printf("cancelled: %d\n", flag);
    MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)5 << 32);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Count bytes = -1;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    MPI_Test_cancelled(&status, &flag);
    printf("large: %lld cancelled %d\n", (long long)bytes, flag);
    printf("wrong: rank %d, tag %d, root %d, type %d, comm %d, request %d\n",
           class_of(MPI_Send(&word, 1, MPI_INT, 99, 0, MPI_COMM_WORLD)),
           class_of(MPI_Send(&word, 1, MPI_INT, 0, -7, MPI_COMM_WORLD)),
           class_of(MPI_Bcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD)),
           class_of(MPI_Send(&word, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)),
           class_of(MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_NULL)), class_of(MPI_Start(&request)));
    MPI_Group group = MPI_GROUP_NULL, empty = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    int from[] = { 0, MPI_PROC_NULL }, to[] = { -9, -9 };
    MPI_Group_translate_ranks(group, 2, from, MPI_GROUP_EMPTY, to);
    MPI_Group_incl(group, 0, NULL, &empty);
    printf("translated: %d %d, empty %d\n", to[0] == MPI_UNDEFINED, to[1] == MPI_PROC_NULL, empty == MPI_GROUP_EMPTY);
    MPI_Group_free(&group);
    printf("freed: %d\n", group == MPI_GROUP_NULL);
}

static void comparisons_and_topologies(void)
{
    MPI_Comm dup = MPI_COMM_NULL, other = MPI_COMM_NULL;
    int same = -1, congruent = -1, kind = -1, sources[1] = { 0 }, flag = -1;
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &same);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &congruent);
    MPI_Topo_test(dup, &kind);
    printf("compared: %d %d, topology %d\n", same == MPI_IDENT, congruent == MPI_CONGRUENT, kind == MPI_UNDEFINED);
    int dims[] = { 1 }, periods[] = { 0 }, index[] = { 0 }, edges[] = { 0 }, from = 0, to = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &other);
    MPI_Topo_test(other, &kind);
    MPI_Cart_shift(other, 0, 1, &from, &to);
    printf("cart %d, at the edge %d %d\n", kind == MPI_CART, from == MPI_PROC_NULL, to == MPI_PROC_NULL);
    MPI_Comm_free(&other);
    MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &other);
    MPI_Topo_test(other, &kind);
    printf("graph %d\n", kind == MPI_GRAPH);
    MPI_Comm_free(&other);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, sources, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &other);
    int in = -1, out = -1;
    MPI_Topo_test(other, &kind);
    MPI_Dist_graph_neighbors_count(other, &in, &out, &flag);
    printf("distributed %d, %d in, %d out, weighted %d\n", kind == MPI_DIST_GRAPH, in, out, flag);
    MPI_Comm_free(&other);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &other);
    MPI_Dist_graph_neighbors_count(other, &in, &out, &flag);
    printf("of none: weighted %d\n", flag);
    MPI_Comm_free(&other);
    int types[] = { MPI_COMM_TYPE_SHARED, MPI_UNDEFINED };
    for (size_t t = 0; t < COUNT(types); t++) {
        int code = MPI_Comm_split_type(MPI_COMM_WORLD, types[t], 0, MPI_INFO_NULL, &other);
        printf("split by type: %d, none %d\n", class_of(code), other == MPI_COMM_NULL);
        if (other != MPI_COMM_NULL)
            MPI_Comm_free(&other);
    }
    MPI_Comm_free(&dup);
}

/* What orders and distributions mean, by the elements that a type takes of an array. */
static void where_elements_lie(void)
{
    int sizes[] = { 2, 6 }, parts[] = { 1, 2 }, starts[] = { 1, 1 }, grid[] = { 1, 2 }, from[12], packed[12] = { 0 };
    int orders[] = { MPI_ORDER_C, MPI_ORDER_FORTRAN };
    int distributions[][2] = { { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK }, { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC } };
    int arguments[] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
    for (int i = 0; i < 12; i++)
        from[i] = i;
    for (int t = 0; t < 4; t++) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        int used = 0;
        if (t < 2)
            MPI_Type_create_subarray(2, sizes, parts, starts, orders[t], MPI_INT, &type);
        else
            MPI_Type_create_darray(2, 1, 2, sizes, distributions[t - 2], arguments, grid, MPI_ORDER_C, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Pack(from, 1, type, packed, sizeof packed, &used, MPI_COMM_WORLD);
        printf("elements:");
        for (int i = 0; i < used / (int)sizeof *packed; i++)
            printf(" %d", packed[i]);
        printf("\n");
        MPI_Type_free(&type);
    }
}

static void how_types_are_made(void)
{
    int two[] = { 2, 2 }, one[] = { 1, 1 }, zero[] = { 0, 0 }, got[64], n[3], combiner;
    int distributions[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
    int arguments[] = { MPI_DISTRIBUTE_DFLT_DARG, 1, MPI_DISTRIBUTE_DFLT_DARG }, sizes[] = { 4, 4, 4 }, grid[] = { 1, 1, 1 };
    MPI_Aint places[] = { 0, 16 }, addresses[64];
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, made[17], parts[8];
    int m = 0;
    MPI_Type_dup(MPI_INT, made + m++);
    MPI_Type_contiguous(3, MPI_INT, made + m++);
    MPI_Type_vector(2, 1, 2, MPI_INT, made + m++);
    MPI_Type_create_hvector(2, 1, 16, MPI_INT, made + m++);
    MPI_Type_indexed(2, one, two, MPI_INT, made + m++);
    MPI_Type_create_hindexed(2, one, places, MPI_INT, made + m++);
    MPI_Type_create_indexed_block(2, 1, zero, MPI_INT, made + m++);
    MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, made + m++);
    MPI_Type_create_struct(2, one, places, types, made + m++);
    MPI_Type_create_subarray(2, two, one, zero, MPI_ORDER_C, MPI_INT, made + m++);
    MPI_Type_create_subarray(2, two, one, zero, MPI_ORDER_FORTRAN, MPI_INT, made + m++);
    MPI_Type_create_darray(1, 0, 3, sizes, distributions, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT, made + m++);
    MPI_Type_create_resized(made[1], 0, 32, made + m++);
    for (int t = 0; t < m; t++) {
        MPI_Type_get_envelope(made[t], n, n + 1, n + 2, &combiner);
        memset(parts, 0, sizeof parts);
        MPI_Type_get_contents(made[t], n[0], n[1], n[2], got, addresses, parts);
        printf("combiner %d:", combiner);
        for (int i = 0; i < n[0]; i++)
            printf(" %d", got[i]);
        for (int p = 0; p < n[2]; p++) {
            int size = -1;
            MPI_Type_size(parts[p], &size);
            printf(" %s", parts[p] == MPI_INT ? "int" : parts[p] == MPI_DOUBLE ? "double" : "made");
            printf(" of %d", size);
        }
        printf("\n");
    }
    for (int t = 0; t < m; t++)
        MPI_Type_free(made + t);
    printf("freed: %d\n", made[0] == MPI_DATATYPE_NULL);
    where_elements_lie();
    int classes_of_types[] = { MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX };
    for (size_t c = 0; c < COUNT(classes_of_types); c++) {
        MPI_Datatype found = MPI_DATATYPE_NULL;
        int size = -1, code = MPI_Type_match_size(classes_of_types[c], 8, &found);
        MPI_Type_size(found, &size);
        printf("matching: %d size %d\n", class_of(code), size);
    }
}

/* ---- functions that the library calls ---- */

static MPI_Datatype made_type = MPI_DATATYPE_NULL, seen_type = MPI_DATATYPE_NULL;
static MPI_Comm seen_comm = MPI_COMM_NULL;
static MPI_Win seen_win;
static MPI_File seen_file;
static int seen_code = -1, deleted = 0;

static void adding(void *in, void *inout, int *length, MPI_Datatype *type)
{
    seen_type = *type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void comm_failed(MPI_Comm *comm, int *code, ...) { seen_comm = *comm, seen_code = class_of(*code); }
static void win_failed(MPI_Win *win, int *code, ...) { seen_win = *win, seen_code = class_of(*code); }
static void file_failed(MPI_File *file, int *code, ...) { seen_file = *file, seen_code = class_of(*code); }

static int copying(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    seen_comm = comm;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int deleting(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return deleted++ ? MPI_SUCCESS : MPI_ERR_INTERN;
}
static int type_deleting(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    seen_type = type;
    return MPI_SUCCESS;
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 1);
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = 12;
    return MPI_SUCCESS;
}
static int freeing(void *state) { return (void)state, MPI_SUCCESS; }
static int cancelling(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

static void callbacks(MPI_Win win)
{
    MPI_Op op = MPI_OP_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm dup = MPI_COMM_NULL, other = MPI_COMM_NULL;
    int one = 1, sum = 2, key = MPI_KEYVAL_INVALID, type_key = MPI_KEYVAL_INVALID, dup_key = MPI_KEYVAL_INVALID, flag = -1;
    int *value = NULL;
    MPI_Op_create(adding, 1, &op);
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
    printf("operation: %d of int %d\n", sum, seen_type == MPI_INT);
    MPI_Type_contiguous(1, MPI_INT, &made_type);
    MPI_Type_commit(&made_type);
    MPI_Reduce_local(&one, &sum, 1, made_type, op);
    printf("operation: %d of the made %d\n", sum, seen_type == made_type);
    MPI_Op_free(&op);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_create_errhandler(comm_failed, &handler);
    MPI_Comm_set_errhandler(dup, handler);
    MPI_Send(&one, 1, MPI_INT, 99, 0, dup);
    printf("handler: its communicator %d, class %d\n", seen_comm == dup, seen_code);
    MPI_Comm_call_errhandler(dup, MPI_ERR_TRUNCATE);
    printf("handler: class %d\n", seen_code);
    MPI_Errhandler_free(&handler);
    MPI_Win_create_errhandler(win_failed, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC);
    printf("handler: its window %d, class %d\n", seen_win == win, seen_code);
    MPI_Errhandler_free(&handler);
    MPI_File_create_errhandler(file_failed, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SPACE);
    printf("handler: its file %d, class %d\n", seen_file == MPI_FILE_NULL, seen_code);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_keyval(copying, deleting, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL);
    MPI_Comm_set_attr(dup, key, &one);
    MPI_Comm_set_attr(dup, dup_key, &sum);
    MPI_Comm_dup(dup, &other);
    MPI_Comm_get_attr(other, key, &value, &flag);
    printf("copied: %d from its communicator %d, %d\n", flag, seen_comm == dup, value == &one);
    MPI_Comm_get_attr(other, dup_key, &value, &flag);
    printf("copied by the predefined function: %d %d\n", flag, value == &sum);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    printf("refused to delete: %d, deleted %d\n", MPI_Comm_delete_attr(other, key) != MPI_SUCCESS, deleted);
    MPI_Comm_free(&other);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&key);
    printf("freed: %d %d\n", key == MPI_KEYVAL_INVALID, dup == MPI_COMM_NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_deleting, &type_key, NULL);
    MPI_Type_set_attr(made_type, type_key, &one);
    MPI_Datatype made = made_type;
    MPI_Type_free(&made_type);
    printf("deleted with its type: %d\n", seen_type == made);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = { 0 };
    int count = -1;
    MPI_Grequest_start(query, freeing, cancelling, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    MPI_Test_cancelled(&status, &flag);
    printf("generalized: %d %d, %d elements, cancelled %d\n", status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG, count, flag);
}

/* ---- windows and files ---- */

static void windows(MPI_Win win, int *memory)
{
    int word = 3, locks[] = { MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED };
    int asserts[] = { 0, MPI_MODE_NOSTORE | MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED };
    for (size_t l = 0; l < COUNT(locks); l++) {
        MPI_Win_lock(locks[l], 0, MPI_MODE_NOCHECK, win);
        MPI_Accumulate(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    printf("locked: %d\n", *memory);
    for (size_t a = 0; a < COUNT(asserts); a++)
        printf("fence %zu: %d\n", a, class_of(MPI_Win_fence(asserts[a], win)));
}

static void files(const char *path)
{
    int modes[] = { MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL, MPI_MODE_RDONLY, MPI_MODE_WRONLY | MPI_MODE_APPEND,
                    MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE };
    MPI_File file = MPI_FILE_NULL;
    char line[] = "what the file holds", kind[MPI_MAX_DATAREP_STRING] = "";
    for (size_t m = 0; m < COUNT(modes); m++) {
        int mode = -1, code = MPI_File_open(MPI_COMM_WORLD, path, modes[m], MPI_INFO_NULL, &file);
        MPI_Offset position = -1, displacement = -1;
        MPI_Datatype etype, filetype;
        if (code != MPI_SUCCESS)
            printf("open %zu: class %d\n", m, class_of(code));
        MPI_File_get_amode(file, &mode);
        if (m == 0)
            MPI_File_write(file, line, sizeof line, MPI_CHAR, MPI_STATUS_IGNORE);
        if (m == 1) {
            MPI_File_seek(file, 4, MPI_SEEK_SET);
            MPI_File_seek(file, -1, MPI_SEEK_CUR);
            MPI_File_get_position(file, &position);
            printf("position %lld", (long long)position);
            MPI_File_seek(file, -2, MPI_SEEK_END);
            MPI_File_get_position(file, &position);
            printf(" %lld\n", (long long)position);
            MPI_File_get_view(file, &displacement, &etype, &filetype, kind);
            printf("view: %lld %d %d %s\n", (long long)displacement, etype == MPI_BYTE, filetype == MPI_BYTE, kind);
        }
        printf("opened %d, mode as asked %d\n", class_of(code), mode == modes[m]);
        MPI_File_close(&file);
        printf("closed: %d\n", file == MPI_FILE_NULL);
    }
    printf("gone: class %d\n", class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
}

/* ---- the rest: infos, functions of MPI-1, Fortran's handles ---- */

static void infos(void)
{
    MPI_Info info = MPI_INFO_NULL;
    char key[MPI_MAX_INFO_KEY + 1], long_key[MPI_MAX_INFO_KEY + 1];
    int flag = -1, keys = -1;
    memset(long_key, 'k', sizeof long_key);
    long_key[MPI_MAX_INFO_KEY - 1] = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, long_key, "value");
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_get_nthkey(info, 0, key);
    MPI_Info_get(info, "none", 5, key, &flag);
    printf("info: %d keys, as long %d, flag %d\n", keys, (int)strlen(key), flag);
    MPI_Info_free(&info);
    printf("freed: %d\n", info == MPI_INFO_NULL);
}

static void from_fortran_and_mpi_1(void)
{
    MPI_Fint of_fortran[MPI_F_STATUS_SIZE];
    MPI_Status status = { 0 }, back = { 0 };
    status.MPI_SOURCE = 4, status.MPI_TAG = 5, status.MPI_ERROR = 6;
    MPI_Status_set_elements(&status, MPI_BYTE, 9);
    MPI_Status_c2f(&status, of_fortran);
    MPI_Status_f2c(of_fortran, &back);
    printf("status: %d %d %d, back as it was %d\n", of_fortran[MPI_F_SOURCE], of_fortran[MPI_F_TAG], of_fortran[MPI_F_ERROR],
           memcmp(&status, &back, sizeof status) == 0);
    MPI_Comm dup = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    printf("handle: %d\n", MPI_Comm_f2c(MPI_Comm_c2f(dup)) == dup);
    MPI_Comm_free(&dup);
    printf("file: %d %d\n", (int)MPI_File_c2f(MPI_FILE_NULL), MPI_File_f2c(0) == MPI_FILE_NULL);
#ifdef WITH_MPI_1
    struct { int first; double second; } pair;
    MPI_Aint start, second, extent = -1, upper = -1;
    MPI_Address(&pair, &start);
    MPI_Address(&pair.second, &second);
    int lengths[] = { 1, 1, 1 };
    MPI_Aint places[] = { 0, second - start, 40 };
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, WITH_MPI_1 }, made = MPI_DATATYPE_NULL;
    MPI_Type_struct(3, lengths, places, types, &made);
    MPI_Type_extent(made, &extent);
    MPI_Type_ub(made, &upper);
    printf("structure: extent %ld, upper bound %ld\n", (long)extent, (long)upper);
    MPI_Type_free(&made);
#endif
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    fprintf(stderr, "library: %.16s\n", version);
    int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE }, provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    printf("levels %d, provided %d\n", levels[0] < levels[1] && levels[1] < levels[2] && levels[2] < levels[3], provided == MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&provided);
    printf("queried %d\n", provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    printf("handler %d\n", handler == MPI_ERRORS_RETURN);
    int *memory = NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    all_datatypes();
    all_operations();
    all_classes();
    all_attributes(win);
    ranks_and_statuses();
    comparisons_and_topologies();
    how_types_are_made();
    callbacks(win);
    windows(win, memory);
    files(argv[1]);
    infos();
    from_fortran_and_mpi_1();
    MPI_Win_free(&win);
    printf("freed: %d\n", win == MPI_WIN_NULL);
    MPI_Finalize();
    return 0;
}
