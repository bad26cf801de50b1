/* Wrong arguments of calls on info objects: MPI-5.0 §10. Errors belong to no communicator, and go to that of MPI_COMM_SELF.
 * ranks: 1 */
#include "expect.h"

static char long_key[MPI_MAX_INFO_KEY + 2], long_value[MPI_MAX_INFO_VAL + 2], text[64];

static void objects(void)
{
    MPI_Info info = MPI_INFO_NULL, none = MPI_INFO_NULL, bad = (MPI_Info)(intptr_t)-1, env = MPI_INFO_ENV, freed, copy;
    MPI_Info_create(&info);
    EXPECT(MPI_ERR_ARG, MPI_Info_create(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Info_create_env(0, NULL, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Info_dup(none, &copy));
    EXPECT(MPI_ERR_INFO, MPI_Info_dup(bad, &copy));
    EXPECT(MPI_ERR_ARG, MPI_Info_dup(info, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Info_free(&none));
    EXPECT(MPI_ERR_INFO, MPI_Info_free(&bad));
    EXPECT(MPI_ERR_INFO, MPI_Info_free(&env));
    EXPECT(MPI_ERR_ARG, MPI_Info_free(NULL));
    freed = info;
    MPI_Info_free(&info);
    EXPECT(MPI_ERR_INFO, MPI_Info_set(freed, "key", "value"));
}

static void values(void)
{
    MPI_Info info, none = MPI_INFO_NULL;
    int flag = 0, length = sizeof text, negative = -1, count;
    MPI_Info_create(&info);
    EXPECT(MPI_ERR_INFO, MPI_Info_set(none, "key", "value"));
    EXPECT(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_ENV, "key", "value"));
    EXPECT(MPI_ERR_ARG, MPI_Info_set(info, NULL, "value"));
    EXPECT(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "value"));
    EXPECT(MPI_ERR_INFO_KEY, MPI_Info_set(info, long_key, "value"));
    EXPECT(MPI_ERR_ARG, MPI_Info_set(info, "key", NULL));
    EXPECT(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "key", long_value));
    EXPECT(MPI_ERR_INFO, MPI_Info_delete(none, "key"));
    EXPECT(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "key"));
    EXPECT(MPI_ERR_ARG, MPI_Info_delete(info, NULL));
    EXPECT(MPI_ERR_INFO_KEY, MPI_Info_delete(info, long_key));
    EXPECT(MPI_ERR_INFO, MPI_Info_get_string(none, "key", &length, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_string(info, NULL, &length, text, &flag));
    EXPECT(MPI_ERR_INFO_KEY, MPI_Info_get_string(info, long_key, &length, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_string(info, "key", NULL, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_string(info, "key", &length, text, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Info_get(none, "key", 8, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get(info, NULL, 8, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get(info, "key", -1, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get(info, "key", 8, text, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Info_get_valuelen(none, "key", &length, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_valuelen(info, NULL, &length, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_valuelen(info, "key", &length, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Info_get_nkeys(none, &count));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_nkeys(info, NULL));
    EXPECT(MPI_ERR_INFO, MPI_Info_get_nthkey(none, 0, text));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 0, text));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_nthkey(info, -1, text));
    MPI_Info_set(info, "key", "value");
    EXPECT(MPI_ERR_ARG, MPI_Info_get_string(info, "key", &negative, text, &flag));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 1, text));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 0, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Info_get_valuelen(info, "key", NULL, &flag));
    MPI_Info_get_nkeys(info, &count);
    CHECK_EQUAL(count, 1, "MPI-5.0 §10: the wrong calls changed nothing");
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    expect_start(&argc, &argv, "info_arguments");
    memset(long_key, 'k', sizeof long_key - 1);
    memset(long_value, 'v', sizeof long_value - 1);
    objects();
    values();
    return expect_finish();
}
