/* Wrong arguments of communicator calls: MPI-5.0 §7.4, §7.7, §9.3. Wrong on every rank alike, so that no
 * rank is left in a collective call.
 *
 * MPICH 5.0.2 takes a negative color for one (§7.4.2 wants it nonnegative or MPI_UNDEFINED), crashes on
 * wrong error handlers and ends the job on a group that is no subset.
 * ranks: 1,2 */
#include "expect.h"

static int value;
static MPI_Comm comm;
static MPI_Group group;
static MPI_Errhandler handler;

static void wrong_communicators(void)
{
    const uintptr_t values[] = { 0x100, 0, 0x103, 0x108, 0x181, 0x209, 0xfff };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Comm wrong = (MPI_Comm)values[i];
        EXPECT(MPI_ERR_COMM, MPI_Comm_rank(wrong, &value));
        EXPECT(MPI_ERR_COMM, MPI_Comm_size(wrong, &value));
        EXPECT(MPI_ERR_COMM, MPI_Comm_group(wrong, &group));
        EXPECT(MPI_ERR_COMM, MPI_Comm_compare(wrong, MPI_COMM_WORLD, &value));
        EXPECT(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_WORLD, wrong, &value));
        EXPECT(MPI_ERR_COMM, MPI_Comm_dup(wrong, &comm));
        EXPECT(MPI_ERR_COMM, MPI_Comm_split(wrong, 0, 0, &comm));
        EXPECT(MPI_ERR_COMM, MPI_Comm_split_type(wrong, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
        EXPECT(MPI_ERR_COMM, MPI_Comm_create(wrong, MPI_GROUP_EMPTY, &comm));
        EXPECT(MPI_ERR_COMM, MPI_Comm_create_group(wrong, MPI_GROUP_EMPTY, 0, &comm));
        EXPECT(MPI_ERR_COMM, MPI_Comm_get_errhandler(wrong, &handler));
        EXPECT(MPI_ERR_COMM, MPI_Comm_set_errhandler(wrong, MPI_ERRORS_RETURN));
        EXPECT(MPI_ERR_COMM, MPI_Comm_free(&wrong));
    }
}

static void predefined_are_not_freed(void)
{
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    EXPECT(MPI_ERR_COMM, MPI_Comm_free(&world));
    EXPECT(MPI_ERR_COMM, MPI_Comm_free(&self));
    EXPECT(MPI_SUCCESS, MPI_Comm_rank(MPI_COMM_WORLD, &value));
}

static void null_pointers(void)
{
    EXPECT(MPI_ERR_ARG, MPI_Comm_rank(MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_size(MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_group(MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_errhandler(MPI_COMM_WORLD, NULL));
    EXPECT_EITHER(MPI_ERR_ARG, MPI_ERR_COMM, MPI_Comm_free(NULL));
}

static void constructors(void)
{
    MPI_Group world;
    EXPECT(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &comm));
    EXPECT(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm));
    MPI_Info bad_info = (MPI_Info)(uintptr_t)0x5000;
    EXPECT(MPI_ERR_INFO, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, bad_info, &comm));
    EXPECT(MPI_ERR_INFO, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, bad_info, &comm));
    EXPECT(MPI_ERR_INFO, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, bad_info, &comm));
    EXPECT(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm));
    EXPECT(MPI_ERR_GROUP, MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    EXPECT(MPI_ERR_TAG, MPI_Comm_create_group(MPI_COMM_WORLD, world, -1, &comm));
    MPI_Group_free(&world);
}

/* The world is no subset of the communicator of one rank. */
static void no_subset(void)
{
    MPI_Group world;
    if (size_of_world == 1)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    EXPECT_EITHER(MPI_ERR_GROUP, MPI_ERR_ARG, MPI_Comm_create(MPI_COMM_SELF, world, &comm));
    EXPECT_EITHER(MPI_ERR_GROUP, MPI_ERR_ARG, MPI_Comm_create_group(MPI_COMM_SELF, world, 0, &comm));
    MPI_Group_free(&world);
}

static void handlers_and_attributes(void)
{
    MPI_Errhandler none = MPI_ERRHANDLER_NULL;
    void *attribute;
    int flag;
    EXPECT_EITHER(MPI_ERR_ERRHANDLER, MPI_ERR_ARG, MPI_Comm_set_errhandler(MPI_COMM_WORLD, none));
    EXPECT_EITHER(MPI_ERR_ERRHANDLER, MPI_ERR_ARG,
                  MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)0x149));
    EXPECT_EITHER(MPI_ERR_ERRHANDLER, MPI_ERR_ARG, MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)0));
    EXPECT_EITHER(MPI_ERR_ERRHANDLER, MPI_ERR_ARG, MPI_Errhandler_free(&none));
    EXPECT(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &attribute, &flag));
    EXPECT(MPI_ERR_COMM, MPI_Comm_get_attr(MPI_COMM_NULL, MPI_TAG_UB, &attribute, &flag));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "communicator_arguments");
    predefined_are_not_freed();
    null_pointers();
    constructors();
    handlers_and_attributes();
    wrong_communicators();
    no_subset();
    return expect_finish();
}
