/* Nonblocking duplication: MPI-5.0 §7.4.2. */
#include "check.h"

enum { COPIES = 6 };

static void use(MPI_Comm comm)
{
    int rank, size, sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * (size - 1) / 2, "MPI-5.0 §7.4.2");
}

/* Several at once, with other traffic and other communicators between start and end. */
static void several(void)
{
    MPI_Comm copies[COPIES], twin;
    MPI_Request requests[COPIES];
    for (int i = 0; i < COPIES; i++)
        CHECK_EQUAL(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]), MPI_SUCCESS, "MPI-5.0 §7.4.2");
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    use(twin);
    use(MPI_COMM_WORLD);
    /* Completed from the last to the first on half of the processes. */
    for (int i = 0; i < COPIES; i++) {
        int which = rank_of_world % 2 ? COPIES - 1 - i : i;
        MPI_Status status;
        MPI_Wait(&requests[which], &status);
        CHECK(requests[which] == MPI_REQUEST_NULL && status_is_empty(&status), "MPI-5.0 §3.7.3");
    }
    for (int i = 0; i < COPIES; i++) {
        int result = -1;
        MPI_Comm_compare(copies[i], MPI_COMM_WORLD, &result);
        CHECK_EQUAL(result, MPI_CONGRUENT, "MPI-5.0 §7.4.1");
        MPI_Comm_compare(copies[i], i ? copies[0] : twin, &result);
        CHECK_EQUAL(result, MPI_CONGRUENT, "MPI-5.0 §7.4.1: each has a context of its own");
        use(copies[i]);
    }
    /* A message in one is not received in another. */
    int value = 7, got = -1, flag = -1;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, rank_of_world, 3, copies[1], &request);
    MPI_Iprobe(rank_of_world, 3, copies[2], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "MPI-5.0 §7.1.1");
    MPI_Recv(&got, 1, MPI_INT, rank_of_world, 3, copies[1], MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 7, "MPI-5.0 §7.1.1");
    for (int i = 0; i < COPIES; i++)
        MPI_Comm_free(&copies[i]);
    MPI_Comm_free(&twin);
}

static int copied, refuse;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Attributes, hints, handler and topology are those of the time of the call. */
static void what_is_copied(void)
{
    MPI_Comm parent, child;
    MPI_Request request;
    MPI_Info info, used;
    MPI_Errhandler handler;
    int key, flag = 0, first = 1, second = 2, *value = NULL, period = 0, status = -1, length = 8;
    char text[8] = "";
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size_of_world, &period, 0, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(parent, key, &first);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_idup_with_info(parent, info, &child, &request);
    CHECK_EQUAL(copied, 1, "MPI-5.0 §7.4.2: in the call");
    MPI_Comm_set_attr(parent, key, &second);
    MPI_Info_set(info, "mpi_assert_exact_length", "false");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(child, key, &value, &flag);
    CHECK(flag && value == &first, "MPI-5.0 §7.4.2");
    MPI_Comm_get_info(child, &used);
    MPI_Info_get_string(used, "mpi_assert_exact_length", &length, text, &flag);
    CHECK(flag && !strcmp(text, "true"), "MPI-5.0 §7.4.2");
    MPI_Comm_get_errhandler(child, &handler);
    CHECK(handler == MPI_ERRORS_RETURN, "MPI-5.0 §9.3.1");
    MPI_Topo_test(child, &status);
    CHECK_EQUAL(status, MPI_CART, "MPI-5.0 §7.4.2");
    MPI_Comm_free(&child);
    /* One process's copy function fails: the others have their communicator. */
    refuse = rank_of_world == 0;
    int code = MPI_Comm_idup(parent, &child, &request);
    CHECK_EQUAL(code != MPI_SUCCESS, refuse, "MPI-5.0 §7.7.2");
    if (!refuse) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&child);
    }
    refuse = 0;
    MPI_Comm_idup(parent, &child, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(child);
    MPI_Comm_free(&child);
    MPI_Comm_free_keyval(&key);
    MPI_Info_free(&info);
    MPI_Info_free(&used);
    MPI_Comm_free(&parent);
}

static void between(void)
{
    MPI_Comm half, inter, copy, merged;
    MPI_Request request;
    int result = -1, side = rank_of_world % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 1, &inter);
    MPI_Comm_idup(inter, &copy, &request);
    MPI_Barrier(inter);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(inter, copy, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT, "MPI-5.0 §7.4.1");
    MPI_Intercomm_merge(copy, side, &merged);
    use(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Several at once, whose local numbers are agreed on by many processes on one side and by none but itself on the other. */
static void between_one_and_the_rest(void)
{
    MPI_Comm half, inter, copies[COPIES];
    MPI_Request requests[2 * COPIES];
    int alone = rank_of_world == 0;
    MPI_Comm_split(MPI_COMM_WORLD, alone, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, alone, 1, &inter);
    for (int i = 0; i < COPIES; i++) {
        MPI_Ibarrier(inter, &requests[i]);
        MPI_Comm_idup(inter, &copies[i], &requests[COPIES + i]);
    }
    MPI_Waitall(2 * COPIES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COPIES; i++) {
        int result = -1;
        MPI_Comm_compare(inter, copies[i], &result);
        CHECK_EQUAL(result, MPI_CONGRUENT, "MPI-5.0 §7.4.1");
        MPI_Barrier(copies[i]);
        MPI_Comm_free(&copies[i]);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "idup");
    several();
    what_is_copied();
    if (size_of_world > 1) {
        between();
        between_one_and_the_rest();
    }
    return check_finish();
}
