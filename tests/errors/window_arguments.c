/* Wrong arguments of one-sided communication: MPI-5.0 §9.4, §12. Errors go to the window's handler. */
#include "expect.h"

static MPI_Win win;
static int *base, value, unit;
static MPI_Aint size, large_unit;
static void *address;
enum { ELEMENTS = 16 };

static MPI_Win allocated(void)
{
    MPI_Win made;
    MPI_Win_allocate(ELEMENTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

static void creation(void)
{
    MPI_Win made;
    EXPECT_COUNTS(MPI_ERR_COMM, Win_allocate, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &made);
    EXPECT_COUNTS(MPI_ERR_SIZE, Win_allocate, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    EXPECT_COUNTS(MPI_ERR_SIZE, Win_create, &value, -8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    EXPECT_COUNTS_EITHER(MPI_ERR_DISP, MPI_ERR_ARG, Win_create, &value, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    EXPECT_COUNTS_EITHER(MPI_ERR_DISP, MPI_ERR_ARG, Win_allocate_shared, 8, -4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    EXPECT_COUNTS(MPI_ERR_INFO, Win_allocate, 8, 1, (MPI_Info)(intptr_t)-1, MPI_COMM_WORLD, &base, &made);
    EXPECT_COUNTS(MPI_ERR_NO_MEM, Win_allocate, (MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    EXPECT_COUNTS(MPI_ERR_ARG, Win_allocate, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &made);
    EXPECT_COUNTS(MPI_ERR_COMM, Win_create, &value, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &made);
    EXPECT_COUNTS(MPI_ERR_INFO, Win_create, &value, 4, 1, (MPI_Info)(intptr_t)-1, MPI_COMM_WORLD, &made);
    EXPECT_COUNTS(MPI_ERR_ARG, Win_create, &value, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL);
    EXPECT_COUNTS(MPI_ERR_COMM, Win_allocate_shared, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &made);
    EXPECT_COUNTS(MPI_ERR_SIZE, Win_allocate_shared, -8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    EXPECT_COUNTS(MPI_ERR_ARG, Win_allocate_shared, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &made);
    EXPECT(MPI_ERR_COMM, MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &made));
    EXPECT(MPI_ERR_INFO, MPI_Win_create_dynamic((MPI_Info)(intptr_t)-1, MPI_COMM_WORLD, &made));
    EXPECT(MPI_ERR_ARG, MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    /* Wrong on one process only: all of them hear of it. */
    EXPECT_COUNTS(rank_of_world == 0 ? MPI_ERR_SIZE : ANY_ERROR,
           Win_allocate, rank_of_world == 0 ? -1 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
}

static void targets(void)
{
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Win_fence(0, win);
    EXPECT_COUNTS(MPI_ERR_RANK, Put, &value, 1, MPI_INT, size_of_world, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_RANK, Get, &value, 1, MPI_INT, -5, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_COUNT, Put, &value, -1, MPI_INT, 0, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_COUNT, Put, &value, 1, MPI_INT, 0, 0, -1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_TYPE, Put, &value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_TYPE, Put, &value, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win);
    EXPECT_COUNTS(MPI_ERR_TYPE, Put, &value, 1, MPI_INT, 0, 0, 1, raw, win);
    EXPECT_COUNTS(MPI_ERR_BUFFER, Put, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_DISP, Put, &value, 1, MPI_INT, 0, -1, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_RMA_RANGE, Put, &value, 1, MPI_INT, 0, ELEMENTS, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_RMA_RANGE, Get, &value, 1, MPI_INT, 0, ELEMENTS - 1, 2, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_RMA_RANGE, Get, &value, 1, MPI_INT, 0, INTPTR_MAX, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_RMA_RANGE, Accumulate, &value, 1, MPI_INT, 0, ELEMENTS, 1, MPI_INT, MPI_SUM, win);
    EXPECT(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(&value, &value, MPI_INT, 0, ELEMENTS, MPI_SUM, win));
    EXPECT(MPI_ERR_RMA_RANGE, MPI_Compare_and_swap(&value, &value, &value, MPI_INT, 0, ELEMENTS, win));
    EXPECT_COUNTS(MPI_ERR_TRUNCATE, Put, base, 2, MPI_INT, 0, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_OP, Accumulate, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win);
    EXPECT_COUNTS(MPI_ERR_OP, Accumulate, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win);
    EXPECT_COUNTS(MPI_ERR_OP, Accumulate, &value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win);
    EXPECT(MPI_ERR_OP, MPI_Fetch_and_op(&value, &value, MPI_INT, 0, 0, MPI_MAXLOC, win));
    EXPECT_COUNTS(MPI_ERR_TYPE, Accumulate, &value, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win);
    EXPECT(MPI_ERR_TYPE, MPI_Fetch_and_op(&value, &value, raw, 0, 0, MPI_SUM, win));
    EXPECT(MPI_ERR_TYPE, MPI_Compare_and_swap(&value, &value, &value, MPI_FLOAT, 0, 0, win));
    EXPECT(MPI_ERR_BUFFER, MPI_Compare_and_swap(&value, NULL, &value, MPI_INT, 0, 0, win));
    EXPECT(MPI_ERR_BUFFER, MPI_Fetch_and_op(NULL, &value, MPI_INT, 0, 0, MPI_SUM, win));
    EXPECT(MPI_ERR_BUFFER, MPI_Fetch_and_op(&value, NULL, MPI_INT, 0, 0, MPI_NO_OP, win));
    MPI_Win_fence(0, win);
    MPI_Type_free(&raw);
}

/* From here on the library knows the way to every part. */
static void good_accesses(void)
{
    int part = 0;
    MPI_Win_fence(0, win);
    for (int rank = 0; rank < size_of_world; rank++) {
        EXPECT(MPI_SUCCESS, MPI_Get(&part, 1, MPI_INT, rank, ELEMENTS - 1, 1, MPI_INT, win));
        EXPECT(MPI_SUCCESS, MPI_Fetch_and_op(NULL, &part, MPI_INT, rank, ELEMENTS - 1, MPI_NO_OP, win));
    }
    MPI_Win_fence(0, win);
}

static void epochs(void)
{
    MPI_Group world;
    MPI_Request request;
    int flag, other = (rank_of_world + 1) % size_of_world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT_COUNTS(MPI_ERR_RMA_SYNC, Put, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Fetch_and_op(&value, &value, MPI_INT, 0, 0, MPI_SUM, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
    MPI_Win_fence(0, win);
    MPI_Put(base, 1, MPI_INT, rank_of_world, 0, 1, MPI_INT, win);
    EXPECT_COUNTS(MPI_ERR_RMA_SYNC, Rput, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    if (size_of_world > 1)
        EXPECT_COUNTS(MPI_ERR_RMA_SYNC, Put, &value, 1, MPI_INT, rank_of_world, 0, 1, MPI_INT, win);
    MPI_Win_unlock(other, win);
    MPI_Win_lock_all(0, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock(other, win));
    MPI_Win_unlock_all(win);
    MPI_Win_post(world, 0, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_post(world, 0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    MPI_Win_start(world, 0, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
    EXPECT_COUNTS(MPI_ERR_RMA_SYNC, Rget, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    EXPECT(MPI_ERR_LOCKTYPE, MPI_Win_lock(7, 0, 0, win));
    EXPECT(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, size_of_world, 0, win));
    EXPECT(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, 0, 1, win));
    EXPECT(MPI_ERR_ASSERT, MPI_Win_fence(1, win));
    EXPECT(MPI_ERR_ASSERT, MPI_Win_post(world, MPI_MODE_NOPRECEDE, win));
    EXPECT(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
    MPI_Group_free(&world);
}

static void flavors(void)
{
    MPI_Win dynamic;
    int piece[4], key;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
    EXPECT(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, piece, sizeof piece));
    EXPECT(MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, piece));
    EXPECT(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(dynamic, 0, &size, &unit, &address));
    EXPECT(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query_c(dynamic, 0, &size, &large_unit, &address));
    EXPECT(MPI_ERR_WIN, MPI_Win_shared_query(MPI_WIN_NULL, 0, &size, &unit, &address));
    EXPECT(MPI_ERR_WIN, MPI_Win_shared_query_c(MPI_WIN_NULL, 0, &size, &large_unit, &address));
    EXPECT(MPI_ERR_RANK, MPI_Win_shared_query(win, size_of_world, &size, &unit, &address));
    EXPECT(MPI_ERR_RANK, MPI_Win_shared_query_c(win, size_of_world, &size, &large_unit, &address));
    EXPECT(MPI_ERR_RANK, MPI_Win_shared_query_c(win, -9, &size, &large_unit, &address));
    EXPECT_COUNTS(MPI_ERR_ARG, Win_shared_query, win, 0, NULL, NULL, &address);
    EXPECT_COUNTS(MPI_ERR_ARG, Win_shared_query, win, 0, &size, NULL, &address);
    EXPECT(MPI_ERR_ARG, MPI_Win_shared_query_c(win, 0, &size, &large_unit, NULL));
    EXPECT(MPI_ERR_RMA_ATTACH, MPI_Win_detach(dynamic, piece));
    EXPECT(MPI_ERR_SIZE, MPI_Win_attach(dynamic, piece, -1));
    MPI_Win_attach(dynamic, piece, sizeof piece);
    EXPECT(MPI_ERR_RMA_ATTACH, MPI_Win_attach(dynamic, piece + 1, sizeof *piece));
    MPI_Win_lock(MPI_LOCK_SHARED, rank_of_world, 0, dynamic);
    MPI_Aint at;
    MPI_Get_address(piece, &at);
    EXPECT(MPI_SUCCESS, MPI_Put(&value, 1, MPI_INT, rank_of_world, at + 12, 1, MPI_INT, dynamic));
    EXPECT_COUNTS(MPI_ERR_RMA_RANGE, Put, &value, 1, MPI_INT, rank_of_world, at + 13, 1, MPI_INT, dynamic);
    EXPECT_COUNTS(MPI_ERR_RMA_RANGE, Get, &value, 1, MPI_INT, rank_of_world, 0, 1, MPI_INT, dynamic);
    MPI_Win_unlock(rank_of_world, dynamic);
    MPI_Win_detach(dynamic, piece);
    MPI_Win_free(&dynamic);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    EXPECT(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, key, NULL));
    EXPECT(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_WIN_SIZE, NULL));
    EXPECT(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, MPI_WIN_BASE));
    EXPECT(MPI_ERR_KEYVAL, MPI_Win_free_keyval(&key));
    MPI_Comm_free_keyval(&key);
    EXPECT(MPI_ERR_INFO, MPI_Win_set_info(win, MPI_INFO_NULL));
}

/* A unit of displacement that an int does not hold: MPI-5.0 §12.2.3. */
static void large_units(void)
{
    MPI_Win wide;
    MPI_Aint far = (MPI_Aint)1 << 33;
    MPI_Win_allocate_c(8, far, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wide);
    MPI_Win_set_errhandler(wide, MPI_ERRORS_RETURN);
    EXPECT(MPI_ERR_VALUE_TOO_LARGE, MPI_Win_shared_query(wide, rank_of_world, &size, &unit, &address));
    EXPECT(MPI_SUCCESS, MPI_Win_shared_query_c(wide, rank_of_world, &size, &large_unit, &address));
    CHECK(large_unit == far, "MPI-5.0 §12.2.3");
    MPI_Win_free(&wide);
}

static void freed(void)
{
    MPI_Win copy = win;
    MPI_Win_free(&win);
    EXPECT_COUNTS(MPI_ERR_WIN, Put, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, copy);
    EXPECT(MPI_ERR_WIN, MPI_Win_fence(0, copy));
    EXPECT(MPI_ERR_WIN, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, copy));
    EXPECT_COUNTS(MPI_ERR_WIN, Get, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, copy);
    EXPECT_COUNTS(MPI_ERR_WIN, Accumulate, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, copy);
    EXPECT(MPI_ERR_WIN, MPI_Win_sync(copy));
    EXPECT(MPI_ERR_WIN, MPI_Win_set_name(copy, "x"));
    EXPECT(MPI_ERR_WIN, MPI_Win_free(&copy));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "window_arguments");
    win = allocated();
    creation();
    targets();
    good_accesses();
    targets();
    epochs();
    flavors();
    large_units();
    freed();
    return expect_finish();
}
