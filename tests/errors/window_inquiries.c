/* Wrong arguments of inquiries of windows, of local flushes, and of accumulates with a result or a request: MPI-5.0 §12.2.6 to
 * §12.3.5, §12.5, §7.7.3, §9.3.2. Errors go to the window's handler where there is a window.
 * ranks: 1,2,4 */
#include "expect.h"

enum { ELEMENTS = 8 };

static MPI_Win win;
static int *base, in[ELEMENTS], out[ELEMENTS];

static void inquiries(void)
{
    MPI_Win none = MPI_WIN_NULL;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME];
    int length, flag;
    void *value;
    EXPECT(MPI_ERR_WIN, MPI_Win_get_group(none, &group));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_group(win, NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_get_info(none, &info));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_info(win, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_name(win, NULL, &length));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_name(win, name, NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_get_errhandler(none, &handler));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_errhandler(win, NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_get_attr(none, MPI_WIN_BASE, &value, &flag));
    EXPECT(MPI_ERR_KEYVAL, MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &value, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_attr(win, MPI_WIN_BASE, NULL, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Win_get_attr(win, MPI_WIN_BASE, &value, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, NULL, NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_call_errhandler(none, MPI_ERR_ARG));
}

static void flushes(void)
{
    EXPECT(MPI_ERR_WIN, MPI_Win_flush_local(0, MPI_WIN_NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_flush_local_all(MPI_WIN_NULL));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush_local(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(win));
    MPI_Win_lock_all(0, win);
    EXPECT(MPI_ERR_RANK, MPI_Win_flush_local(size_of_world, win));
    EXPECT(MPI_ERR_RANK, MPI_Win_flush_local(-7, win));
    MPI_Win_unlock_all(win);
}

/* As the plain form reports, so does the one with a request, and that tells of none. */
#define EXPECT_BOTH(expected, name, lower, ...) \
    do { \
        MPI_Request request_ = MPI_REQUEST_NULL; \
        EXPECT_COUNTS(expected, name, __VA_ARGS__); \
        EXPECT_COUNTS(expected, R##lower, __VA_ARGS__, &request_); \
        CHECK(request_ == MPI_REQUEST_NULL, "MPI-5.0 §12.3.5"); \
    } while (0)

static void accumulates(void)
{
    MPI_Win none = MPI_WIN_NULL;
    MPI_Win_lock_all(0, win);
    EXPECT_BOTH(MPI_ERR_WIN, Accumulate, accumulate, in, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, none);
    EXPECT_BOTH(MPI_ERR_RANK, Accumulate, accumulate, in, 1, MPI_INT, size_of_world, 0, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_COUNT, Accumulate, accumulate, in, -1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_TYPE, Accumulate, accumulate, in, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_OP, Accumulate, accumulate, in, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win);
    EXPECT_BOTH(MPI_ERR_DISP, Accumulate, accumulate, in, 1, MPI_INT, 0, -1, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_RMA_RANGE, Accumulate, accumulate, in, 1, MPI_INT, 0, ELEMENTS, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_BUFFER, Accumulate, accumulate, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
#define RESULT out, 1, MPI_INT
    EXPECT_BOTH(MPI_ERR_WIN, Get_accumulate, get_accumulate, in, 1, MPI_INT, RESULT, 0, 0, 1, MPI_INT, MPI_SUM, none);
    EXPECT_BOTH(MPI_ERR_RANK, Get_accumulate, get_accumulate, in, 1, MPI_INT, RESULT, -9, 0, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_COUNT, Get_accumulate, get_accumulate, in, 1, MPI_INT, out, -1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_TYPE, Get_accumulate, get_accumulate, in, 1, MPI_INT, RESULT, 0, 0, 1, MPI_DATATYPE_NULL, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_OP, Get_accumulate, get_accumulate, in, 1, MPI_INT, RESULT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win);
    EXPECT_BOTH(MPI_ERR_RMA_RANGE, Get_accumulate, get_accumulate, in, 1, MPI_INT, RESULT, 0, ELEMENTS, 1, MPI_INT, MPI_SUM, win);
    EXPECT_BOTH(MPI_ERR_BUFFER, Get_accumulate, get_accumulate, in, 1, MPI_INT, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    EXPECT_COUNTS(MPI_ERR_ARG, Raccumulate, in, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Rget_accumulate, in, 1, MPI_INT, RESULT, 0, 0, 1, MPI_INT, MPI_SUM, win, NULL);
    MPI_Win_unlock_all(win);
}

static void transfers(void)
{
    MPI_Win none = MPI_WIN_NULL;
    int n = size_of_world;
    MPI_Win_lock_all(0, win);
#define EXPECT_TRANSFERS(expected, ...) \
    do { \
        EXPECT_BOTH(expected, Put, put, __VA_ARGS__); \
        EXPECT_BOTH(expected, Get, get, __VA_ARGS__); \
    } while (0)
    EXPECT_TRANSFERS(MPI_ERR_WIN, in, 1, MPI_INT, 0, 0, 1, MPI_INT, none);
    EXPECT_TRANSFERS(MPI_ERR_RANK, in, 1, MPI_INT, n, 0, 1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_RANK, in, 1, MPI_INT, MPI_ANY_SOURCE, 0, 1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_COUNT, in, -1, MPI_INT, 0, 0, 1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_COUNT, in, 1, MPI_INT, 0, 0, -1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_TYPE, in, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_TYPE, in, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win);
    EXPECT_TRANSFERS(MPI_ERR_DISP, in, 1, MPI_INT, 0, -1, 1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_RMA_RANGE, in, 1, MPI_INT, 0, ELEMENTS, 1, MPI_INT, win);
    EXPECT_TRANSFERS(MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_ARG, Rput, in, 1, MPI_INT, 0, 0, 1, MPI_INT, win, NULL);
    EXPECT_COUNTS(MPI_ERR_ARG, Rget, in, 1, MPI_INT, 0, 0, 1, MPI_INT, win, NULL);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "window_inquiries");
    MPI_Win_allocate(ELEMENTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    inquiries();
    flushes();
    transfers();
    accumulates();
    MPI_Win_free(&win);
    return expect_finish();
}
