/* Attributes of communicators and the calls of their callbacks, by their names and by the deprecated ones:
 * MPI-5.0 §7.7.2, §16.1.
 *
 * MPICH 5.0.2 does not ask the communicator's error handler when MPI_Comm_free fails, against §9.3. */
#include "check.h"

static int copies, deletions, code;
static MPI_Comm deleted_from;
static char words[8];

static int copy(MPI_Comm old, int key, void *extra, void *value, void *out, int *flag)
{
    (void)old, (void)key, (void)extra;
    copies++;
    *(void **)out = (char *)value + 1;
    *flag = 1;
    return code;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    if (code == MPI_SUCCESS)
        deletions++, deleted_from = comm;
    return code;
}

static void *value_of(MPI_Comm comm, int key)
{
    void *value = NULL;
    int flag = -1;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    return flag ? value : NULL;
}

static void life(void)
{
    int key, plain;
    MPI_Comm comm, twin, child;
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(value_of(comm, key) == NULL, "MPI-5.0 §7.7.2");
    MPI_Comm_set_attr(comm, key, words);
    MPI_Comm_set_attr(comm, plain, words + 5);
    copies = deletions = 0;
    MPI_Comm_dup(comm, &twin);
    CHECK(copies == 1 && value_of(twin, key) == words + 1 && value_of(twin, plain) == words + 5, "MPI-5.0 §7.7.2");
    MPI_Comm_split(comm, 0, 0, &child);
    CHECK(copies == 1 && value_of(child, key) == NULL, "MPI-5.0 §7.4.2: only duplicates get attributes");
    MPI_Comm_free(&child);
    MPI_Comm_set_attr(twin, key, words + 2);
    CHECK(deletions == 1 && deleted_from == twin, "MPI-5.0 §7.7.2");
    MPI_Comm_delete_attr(twin, key);
    CHECK(deletions == 2 && value_of(twin, key) == NULL && value_of(comm, key) == words, "MPI-5.0 §7.7.2");
    MPI_Comm_free(&twin);
    CHECK_EQUAL(deletions, 2, "MPI-5.0 §7.7.2");
    MPI_Comm was = comm;
    int freed = key;
    MPI_Comm_free_keyval(&freed);
    CHECK_EQUAL(freed, MPI_KEYVAL_INVALID, "MPI-5.0 §7.7.2");
    MPI_Comm_free(&comm);
    CHECK(deletions == 3 && deleted_from == was, "MPI-5.0 §7.7.2: a freed key works on where it is set");
    MPI_Comm_free_keyval(&plain);
}

static void failures(void)
{
    int key;
    MPI_Comm comm, twin = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, words);
    code = MPI_ERR_OTHER;
    CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS, "MPI-5.0 §7.7.2");
    CHECK(MPI_Comm_set_attr(comm, key, words + 1) != MPI_SUCCESS, "MPI-5.0 §7.7.2");
    CHECK(MPI_Comm_dup(comm, &twin) != MPI_SUCCESS, "MPI-5.0 §7.7.2: a copy function that fails");
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS && comm != MPI_COMM_NULL, "MPI-5.0 §7.7.2");
    CHECK(value_of(comm, key) == words, "MPI-5.0 §7.7.2");
    code = MPI_SUCCESS;
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

/* A key is freed once nothing refers to it: until then its attributes are got and deleted by it. */
static void freed_in_use(void)
{
    int key;
    MPI_Comm comm, twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, words);
    int again = key, freed = key;
    MPI_Comm_free_keyval(&freed);
    deletions = 0;
    CHECK(value_of(comm, key) == words, "MPI-5.0 §7.7.2: a freed key in use");
    MPI_Comm_dup(comm, &twin);
    MPI_Comm_delete_attr(comm, key);
    CHECK(deletions == 1 && value_of(twin, key) == words + 1, "MPI-5.0 §7.7.2: deleted by a freed key");
    MPI_Comm_free_keyval(&again);
    CHECK_EQUAL(again, MPI_KEYVAL_INVALID, "MPI-5.0 §7.7.2: freed again while in use");
    MPI_Comm_free(&twin);
    CHECK_EQUAL(deletions, 2, "MPI-5.0 §7.7.2");
    CHECK(MPI_Comm_set_attr(comm, key, words) != MPI_SUCCESS, "MPI-5.0 §7.7.2: no references, no key");
    MPI_Comm_free(&comm);
}

/* The deprecated names are the same functions. */
static void deprecated(void)
{
    int key, flag = -1;
    void *value = NULL;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Keyval_create(copy, delete, &key, NULL);
    MPI_Attr_put(comm, key, words + 4);
    CHECK(value_of(comm, key) == words + 4, "MPI-5.0 §16.1");
    MPI_Attr_get(comm, key, &value, &flag);
    CHECK(flag && value == words + 4, "MPI-5.0 §16.1");
    deletions = 0;
    MPI_Attr_delete(comm, key);
    CHECK_EQUAL(deletions, 1, "MPI-5.0 §16.1");
    MPI_Keyval_free(&key);
    CHECK_EQUAL(key, MPI_KEYVAL_INVALID, "MPI-5.0 §16.1");
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Keyval_free(&key);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "attributes");
    life();
    failures();
    freed_in_use();
    deprecated();
    return check_finish();
}
