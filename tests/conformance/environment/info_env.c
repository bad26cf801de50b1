/* MPI_Info_create_env before and after MPI_Init gives what MPI_INFO_ENV holds: MPI-5.0 §10, §11.2.1. */
#include "check.h"

enum { KEYS = 4, LONGEST = 1024 };

static const char *const keys[KEYS] = { "command", "argv", "maxprocs", "arch" };

static void values(MPI_Info info, char texts[KEYS][LONGEST])
{
    for (int i = 0; i < KEYS; i++) {
        int length = LONGEST, flag = 0;
        texts[i][0] = '\0';
        MPI_Info_get_string(info, keys[i], &length, texts[i], &flag);
    }
}

int main(int argc, char **argv)
{
    static char first[KEYS][LONGEST], other[KEYS][LONGEST];
    MPI_Info info;
    MPI_Info_create_env(argc, argv, &info);
    values(info, first);
    MPI_Info_free(&info);
    check_start(&argc, &argv, "info_env");
    CHECK(atoi(first[2]) == size_of_world, "MPI-5.0 §11.2.1", "maxprocs before MPI_Init is \"%s\"", first[2]);
    values(MPI_INFO_ENV, other);
    for (int i = 0; i < KEYS; i++)
        CHECK(strcmp(first[i], other[i]) == 0, "MPI-5.0 §10", "%s: \"%s\", then \"%s\"", keys[i], first[i], other[i]);
    MPI_Info_create_env(argc, argv, &info);
    values(info, other);
    MPI_Info_free(&info);
    for (int i = 0; i < KEYS; i++)
        CHECK(strcmp(first[i], other[i]) == 0, "MPI-5.0 §10", "%s: \"%s\", then \"%s\"", keys[i], first[i], other[i]);
    return check_finish();
}
