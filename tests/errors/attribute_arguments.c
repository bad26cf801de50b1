/* Wrong arguments of attribute calls: MPI-5.0 §7.7. All are local.
 *
 * MPICH 5.0.2 goes on with a key that was freed. */
#include "expect.h"

static int comm_key, type_key, flag;
static void *value;

static void wrong_keys(int key)
{
    int other = key;
    EXPECT(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value));
    EXPECT(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    EXPECT(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
    EXPECT(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&other));
}

/* The deprecated names, of which keys are those of communicators. */
static void wrong_deprecated_keys(int key)
{
    int other = key;
    EXPECT(MPI_ERR_KEYVAL, MPI_Attr_put(MPI_COMM_WORLD, key, &value));
    EXPECT(MPI_ERR_KEYVAL, MPI_Attr_delete(MPI_COMM_WORLD, key));
    EXPECT(MPI_ERR_KEYVAL, MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag));
    EXPECT(MPI_ERR_KEYVAL, MPI_Keyval_free(&other));
}

static void wrong_type_keys(int key)
{
    int other = key;
    EXPECT(MPI_ERR_KEYVAL, MPI_Type_set_attr(MPI_INT, key, &value));
    EXPECT(MPI_ERR_KEYVAL, MPI_Type_delete_attr(MPI_INT, key));
    EXPECT(MPI_ERR_KEYVAL, MPI_Type_get_attr(MPI_INT, key, &value, &flag));
    EXPECT(MPI_ERR_KEYVAL, MPI_Type_free_keyval(&other));
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "attribute_arguments");
    EXPECT(MPI_SUCCESS, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
    EXPECT(MPI_SUCCESS, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
    const int keys[] = { MPI_KEYVAL_INVALID, -1, 1 << 30 };
    for (int i = 0; i < 3; i++) {
        wrong_keys(keys[i]);
        wrong_deprecated_keys(keys[i]);
        wrong_type_keys(keys[i]);
    }
    wrong_keys(type_key);
    wrong_deprecated_keys(type_key);
    wrong_type_keys(comm_key);
    /* The predefined ones are not the program's to change. */
    EXPECT_EITHER(MPI_ERR_KEYVAL, MPI_ERR_ARG, MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value));
    EXPECT_EITHER(MPI_ERR_KEYVAL, MPI_ERR_ARG, MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB));
    EXPECT(MPI_ERR_COMM, MPI_Comm_set_attr(MPI_COMM_NULL, comm_key, &value));
    EXPECT(MPI_ERR_COMM, MPI_Comm_get_attr(MPI_COMM_NULL, comm_key, &value, &flag));
    EXPECT(MPI_ERR_TYPE, MPI_Type_set_attr(MPI_DATATYPE_NULL, type_key, &value));
    EXPECT(MPI_ERR_TYPE, MPI_Type_get_attr(MPI_DATATYPE_NULL, type_key, &value, &flag));
    EXPECT(MPI_ERR_COMM, MPI_Attr_put(MPI_COMM_NULL, comm_key, &value));
    EXPECT(MPI_ERR_COMM, MPI_Attr_get(MPI_COMM_NULL, comm_key, &value, &flag));
    EXPECT(MPI_ERR_COMM, MPI_Attr_delete(MPI_COMM_NULL, comm_key));
    EXPECT(MPI_ERR_ARG, MPI_Comm_create_keyval(NULL, NULL, NULL, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, NULL, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Keyval_free(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Attr_get(MPI_COMM_WORLD, comm_key, NULL, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Attr_get(MPI_COMM_WORLD, comm_key, &value, NULL));
    EXPECT(MPI_ERR_COMM, MPI_Comm_delete_attr(MPI_COMM_NULL, comm_key));
    EXPECT(MPI_ERR_TYPE, MPI_Type_delete_attr(MPI_DATATYPE_NULL, type_key));
    EXPECT(MPI_ERR_ARG, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_free_keyval(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_free_keyval(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_WORLD, comm_key, &value, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Type_get_attr(MPI_INT, type_key, NULL, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_WORLD, comm_key, NULL, &flag));
    int freed = comm_key;
    EXPECT(MPI_SUCCESS, MPI_Comm_free_keyval(&freed));
    wrong_keys(comm_key);
    wrong_deprecated_keys(comm_key);
    EXPECT(MPI_SUCCESS, MPI_Type_free_keyval(&type_key));
    return expect_finish();
}
