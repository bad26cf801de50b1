/* What a window is: memory, attributes, group, name, hints, keys (MPI-5.0 §12.2, §7.7.3, §7.8). */
#include "windows.h"

static long figure(MPI_Win win, int key, void *base)
{
    void *value = NULL;
    int flag = 0;
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag, "§12.2.6: cached on every window");
    if (key == MPI_WIN_BASE) {
        CHECK(value == base, "§12.2.6: the address itself");
        return 0;
    }
    return key == MPI_WIN_SIZE ? *(MPI_Aint *)value : *(int *)value;
}

static void attributes(void)
{
    static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                                  MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (!has_flavor(flavor))
            continue;
        struct window w = open_window(flavor, 1000);
        int dynamic = flavor == DYNAMIC;
        figure(w.win, MPI_WIN_BASE, dynamic ? MPI_BOTTOM : w.base);
        CHECK_EQUAL(figure(w.win, MPI_WIN_SIZE, NULL), dynamic ? 0 : 1000, "§12.2.6");
        CHECK_EQUAL(figure(w.win, MPI_WIN_DISP_UNIT, NULL), 1, "§12.2.6");
        CHECK_EQUAL(figure(w.win, MPI_WIN_CREATE_FLAVOR, NULL), flavors[flavor], "§12.2.6");
        CHECK_EQUAL(figure(w.win, MPI_WIN_MODEL, NULL), MPI_WIN_UNIFIED, "§12.4");
        MPI_Group world, group;
        int result = -1;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Win_get_group(w.win, &group);
        MPI_Group_compare(world, group, &result);
        CHECK_EQUAL(result, MPI_IDENT, "§12.2.6: of the communicator");
        MPI_Group_free(&world);
        MPI_Group_free(&group);
        close_window(&w);
    }
}

static void names(void)
{
    struct window w = open_window(ALLOCATED, 8);
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Win_get_name(w.win, name, &length);
    CHECK(length == 0 && !*name, "§7.8: empty until set");
    MPI_Win_set_name(w.win, "façade");
    MPI_Win_get_name(w.win, name, &length);
    CHECK(length == (int)strlen("façade") && !strcmp(name, "façade"), "§7.8");
    MPI_Win_get_name(MPI_WIN_NULL, name, &length);
    CHECK(!strcmp(name, "MPI_WIN_NULL"), "§7.8");
    MPI_Win win = MPI_Win_fromint(MPI_Win_toint(w.win));
    CHECK(win == w.win, "§20.4");
    close_window(&w);
}

static int deleted;

static int delete(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key;
    CHECK(extra == &deleted && value == &deleted, "§7.7.3");
    deleted++;
    return MPI_SUCCESS;
}

static void keys(void)
{
    struct window w = open_window(ALLOCATED, 8);
    int key, flag;
    void *value;
    MPI_Win_create_keyval(MPI_WIN_DUP_FN, delete, &key, &deleted);
    MPI_Win_get_attr(w.win, key, &value, &flag);
    CHECK(!flag, "§7.7.3");
    MPI_Win_set_attr(w.win, key, &deleted);
    MPI_Win_get_attr(w.win, key, &value, &flag);
    CHECK(flag && value == &deleted, "§7.7.3");
    MPI_Win_delete_attr(w.win, key);
    CHECK_EQUAL(deleted, 1, "§7.7.3");
    MPI_Win_set_attr(w.win, key, &deleted);
    MPI_Win_free_keyval(&key);
    CHECK_EQUAL(key, MPI_KEYVAL_INVALID, "§7.7.3");
    close_window(&w);
    CHECK_EQUAL(deleted, 2, "§7.7.3: when the window is freed");
}

static MPI_Win handled;
static int handled_class, handlings;

static void handle(MPI_Win *win, int *code, ...)
{
    handled = *win;
    handled_class = class_of(*code);
    handlings++;
}

static void handlers(void)
{
    struct window w = open_window(ALLOCATED, 8);
    MPI_Errhandler handler, found;
    MPI_Win_get_errhandler(w.win, &found);
    CHECK(found == MPI_ERRORS_ARE_FATAL, "§9.3: until another is set");
    MPI_Win_create_errhandler(handle, &handler);
    MPI_Win_set_errhandler(w.win, handler);
    MPI_Win_get_errhandler(w.win, &found);
    CHECK(found == handler, "§9.3.2");
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    int value = 0, code = MPI_Put(&value, 1, MPI_INT, size_of_world, 0, 1, MPI_INT, w.win);
    CHECK(class_of(code) == MPI_ERR_RANK && handled_class == MPI_ERR_RANK && handled == w.win, "§9.3.2");
    MPI_Win_call_errhandler(w.win, MPI_ERR_OTHER);
    CHECK(handlings == 2 && handled_class == MPI_ERR_OTHER, "§9.3.2");
    close_window(&w);
}

static int has_hint(MPI_Info info, const char *key, const char *wanted)
{
    char value[64];
    int length = sizeof value, flag;
    MPI_Info_get_string(info, key, &length, value, &flag);
    return flag && !strcmp(value, wanted);
}

static void hints(void)
{
    MPI_Info info, used;
    MPI_Win win;
    int *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "nonsense", "true");
    MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_info(win, &used);
    CHECK(has_hint(used, "no_locks", "true") && has_hint(used, "same_size", "true"), "§12.2.7");
    CHECK(has_hint(used, "accumulate_ordering", "none") && has_hint(used, "same_disp_unit", "false"), "§12.2.7");
    CHECK(has_hint(used, "accumulate_ops", "same_op_no_op"), "§12.2.1: the default");
    CHECK(!has_hint(used, "nonsense", "true"), "§12.2.7: only what the library knows");
    MPI_Info_free(&used);
    MPI_Info_set(info, "accumulate_ops", "same_op");
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    MPI_Win_get_info(win, &used);
    CHECK(has_hint(used, "accumulate_ops", "same_op") && has_hint(used, "no_locks", "false"), "§12.2.7");
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL, "§12.2.5");
}

/* Shared memory: one after the other, and readable by everyone (§12.2.3). */
static void shared(int flavor)
{
    MPI_Aint mine = 8 * (rank_of_world + 1) - (rank_of_world == 0 && size_of_world > 1 ? 8 : 0), size;
    MPI_Info info = MPI_INFO_NULL;
    long *base, *part;
    int unit;
    MPI_Win win;
    if (flavor == APART) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    if (flavor == ALLOCATED)
        MPI_Win_allocate(mine, 8, info, MPI_COMM_WORLD, &base, &win);
    else
        MPI_Win_allocate_shared(mine, 8, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (MPI_Aint i = 0; i < mine / 8; i++)
        base[i] = 100 * rank_of_world + i;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    long *next = NULL;
    for (int rank = 0; rank < size_of_world; rank++) {
        MPI_Aint wanted = 8 * (rank + 1) - (rank == 0 && size_of_world > 1 ? 8 : 0);
        MPI_Win_shared_query(win, rank, &size, &unit, &part);
        CHECK(size == wanted && unit == 8, "§12.2.3");
        for (MPI_Aint i = 0; i < size / 8; i++)
            CHECK_EQUAL(part[i], 100 * rank + i, "§12.2.3: the same memory");
        if (flavor == SHARED && size && next)
            CHECK(part == next, "§12.2.3: consecutive");
        next = size ? part + size / 8 : next;
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &part);
    CHECK_EQUAL(size, size_of_world > 1 ? 16 : 8, "§12.2.3: the first that is not empty");
    CHECK_EQUAL(part[0], size_of_world > 1 ? 100 : 0, "§12.2.3");
    MPI_Barrier(MPI_COMM_WORLD);
    /* A store of one process is what another loads. */
    if (rank_of_world == size_of_world - 1)
        part[0] = 4711;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    CHECK_EQUAL(part[0], 4711, "§12.4: unified");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

static void created_query(void)
{
    struct window w = open_window(CREATED, 64);
    MPI_Aint size = -1;
    int unit = -1;
    void *part = NULL;
    MPI_Win_shared_query(w.win, rank_of_world, &size, &unit, &part);
    CHECK(size == 64 && unit == 1 && part == w.base, "§12.2.3: one's own");
    close_window(&w);
}

/* Attached and detached again and again, several pieces at once (§12.2.4). */
static void dynamic(void)
{
    enum { PIECES = 40 };
    MPI_Win win;
    int *pieces[PIECES];
    MPI_Aint *addresses = need(size_of_world * PIECES * sizeof *addresses), mine[PIECES];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PIECES; i++) {
            pieces[i] = need((i + 1) * sizeof(int));
            MPI_Win_attach(win, pieces[i], (i + 1) * sizeof(int));
            MPI_Get_address(pieces[i], mine + i);
        }
        MPI_Allgather(mine, PIECES, MPI_AINT, addresses, PIECES, MPI_AINT, MPI_COMM_WORLD);
        int to = right_neighbour();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        for (int i = 0; i < PIECES; i++) {
            int value = 1000 * rank_of_world + i + round;
            MPI_Put(&value, 1, MPI_INT, to, MPI_Aint_add(addresses[to * PIECES + i], i * sizeof(int)), 1, MPI_INT, win);
        }
        MPI_Win_unlock(to, win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < PIECES; i++)
            CHECK_EQUAL(pieces[i][i], 1000 * left_neighbour() + i + round, "§12.2.4");
        for (int i = 0; i < PIECES; i++) {
            MPI_Win_detach(win, pieces[(i * 7) % PIECES]);
            free(pieces[(i * 7) % PIECES]);
        }
    }
    MPI_Win_free(&win);
    free(addresses);
}

/* Windows come and go on communicators of their own; their messages are nobody else's. */
static void many(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world % 2, -rank_of_world, &half);
    int rank, size;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    for (int round = 0; round < 40; round++) {
        MPI_Win win;
        int *base, value = round;
        MPI_Win_allocate(1 << 16, 4, MPI_INFO_NULL, half, &base, &win);
        for (int i = 0; i < 1 << 14; i += 1 << 10)
            CHECK_EQUAL(base[i], 0, "fresh memory");
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 1 << 13, 1, MPI_INT, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        CHECK_EQUAL(base[1 << 13], round, "§12.3.1: ranks are the window's");
        MPI_Win_free(&win);
    }
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "windows");
    attributes();
    names();
    keys();
    handlers();
    hints();
    for (int flavor = 0; flavor <= APART && is_on_one_host(); flavor++)
        if (flavor != CREATED)
            shared(flavor);
    created_query();
    dynamic();
    many();
    return check_finish();
}
