/* Attributes of datatypes and the calls of their callbacks: MPI-5.0 §7.7.4.
 *
 * MPICH 5.0.2 frees a datatype whose delete callback fails, against §7.7.4 with §7.7.2. */
#include "check.h"

static int copies, deletions, fail_deletion, copied_key;
static MPI_Datatype copied_from, deleted_from;
static void *deleted_value, *seen_extra;

/* Copies the value plus one. */
static int copy(MPI_Datatype old, int key, void *extra, void *value, void *out, int *flag)
{
    copies++;
    copied_from = old, copied_key = key, seen_extra = extra;
    *(void **)out = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_none(MPI_Datatype old, int key, void *extra, void *value, void *out, int *flag)
{
    (void)old, (void)key, (void)extra, (void)value, (void)out;
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

static int copy_fails(MPI_Datatype old, int key, void *extra, void *value, void *out, int *flag)
{
    (void)old, (void)key, (void)extra, (void)value, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    if (fail_deletion)
        return MPI_ERR_OTHER;
    deletions++;
    deleted_from = type, deleted_value = value;
    return MPI_SUCCESS;
}

static char words[8];

static void *value_of(MPI_Datatype type, int key)
{
    void *value = NULL;
    int flag = -1;
    MPI_Type_get_attr(type, key, &value, &flag);
    return flag ? value : NULL;
}

static void set_get_delete(MPI_Datatype type)
{
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(copy, delete, &key, words + 7);
    CHECK(key != MPI_KEYVAL_INVALID, "MPI-5.0 §7.7.4");
    CHECK(value_of(type, key) == NULL, "MPI-5.0 §7.7.4: not set");
    deletions = 0;
    MPI_Type_set_attr(type, key, words);
    CHECK(value_of(type, key) == words && deletions == 0, "MPI-5.0 §7.7.4");
    MPI_Type_set_attr(type, key, words + 3);
    CHECK(value_of(type, key) == words + 3 && deletions == 1 && deleted_value == words && deleted_from == type,
          "MPI-5.0 §7.7.4: the old value is deleted");
    MPI_Type_delete_attr(type, key);
    CHECK(value_of(type, key) == NULL && deletions == 2 && deleted_value == words + 3, "MPI-5.0 §7.7.4");
    MPI_Type_free_keyval(&key);
    CHECK_EQUAL(key, MPI_KEYVAL_INVALID, "MPI-5.0 §7.7.4");
}

static void duplicates(MPI_Datatype type)
{
    int key, quiet, plain, none;
    MPI_Datatype twin;
    MPI_Type_create_keyval(copy, delete, &key, words + 7);
    MPI_Type_create_keyval(copy_none, MPI_TYPE_NULL_DELETE_FN, &quiet, NULL);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL);
    MPI_Type_set_attr(type, key, words);
    MPI_Type_set_attr(type, quiet, words + 1);
    MPI_Type_set_attr(type, plain, words + 2);
    MPI_Type_set_attr(type, none, words + 3);
    copies = deletions = 0;
    MPI_Type_dup(type, &twin);
    CHECK_EQUAL(copies, 2, "MPI-5.0 §7.7.4");
    CHECK(copied_from == type && copied_key == key && seen_extra == words + 7, "MPI-5.0 §7.7.4");
    CHECK(value_of(twin, key) == words + 1, "MPI-5.0 §7.7.4: what the copy function says");
    CHECK(value_of(twin, quiet) == NULL && value_of(twin, none) == NULL, "MPI-5.0 §7.7.4: not copied");
    CHECK(value_of(twin, plain) == words + 2, "MPI-5.0 §7.7.4: MPI_TYPE_DUP_FN");
    /* A freed key works on where it is set. */
    int freed = key;
    MPI_Type_free_keyval(&freed);
    MPI_Datatype was = twin;
    MPI_Type_free(&twin);
    CHECK(deletions == 1 && deleted_from == was && deleted_value == words + 1, "MPI-5.0 §7.7.4: freeing deletes");
    MPI_Type_delete_attr(type, quiet);
    MPI_Type_delete_attr(type, plain);
    MPI_Type_delete_attr(type, none);
    MPI_Type_free_keyval(&quiet);
    MPI_Type_free_keyval(&plain);
    MPI_Type_free_keyval(&none);
}

/* A callback that fails makes the call fail, and nothing changes. */
static void failures(void)
{
    int key, bad;
    MPI_Datatype type, twin = MPI_DATATYPE_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete, &key, NULL);
    MPI_Type_create_keyval(copy_fails, MPI_TYPE_NULL_DELETE_FN, &bad, NULL);
    MPI_Type_set_attr(type, key, words);
    fail_deletion = 1;
    CHECK(MPI_Type_set_attr(type, key, words + 1) != MPI_SUCCESS, "MPI-5.0 §7.7.4");
    CHECK(MPI_Type_delete_attr(type, key) != MPI_SUCCESS, "MPI-5.0 §7.7.4");
    CHECK(value_of(type, key) == words, "MPI-5.0 §7.7.4");
    CHECK(MPI_Type_free(&type) != MPI_SUCCESS && type != MPI_DATATYPE_NULL, "MPI-5.0 §7.7.4");
    fail_deletion = 0;
    MPI_Type_set_attr(type, bad, words);
    CHECK(MPI_Type_dup(type, &twin) != MPI_SUCCESS, "MPI-5.0 §7.7.4");
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
    MPI_Type_free_keyval(&bad);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    check_start(&argc, &argv, "attributes");
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    set_get_delete(type);
    set_get_delete(MPI_DOUBLE);
    duplicates(type);
    MPI_Type_free(&type);
    failures();
    return check_finish();
}
