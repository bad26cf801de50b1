/* Hints of communicators: MPI-5.0 §7.4.4. */
#include "check.h"

static const char *const assertions[] = { "mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                          "mpi_assert_allow_overtaking" };
enum { ASSERTIONS = sizeof assertions / sizeof *assertions };

/* The value of a hint of a communicator's; empty if it has none. */
static const char *value_of(MPI_Comm comm, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int flag = 0, length = sizeof value;
    value[0] = 0;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, key, &length, value, &flag);
    MPI_Info_free(&info);
    return value;
}

static void set(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, copy, split;
    MPI_Info info;
    check_start(&argc, &argv, "hints");
    for (int i = 0; i < ASSERTIONS; i++)
        CHECK(!strcmp(value_of(MPI_COMM_WORLD, assertions[i]), "false"), "MPI-5.0 §7.4.4: the default");
    CHECK(strstr(value_of(MPI_COMM_WORLD, "mpi_memory_alloc_kinds"), "system"), "MPI-5.0 §11.4.3");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < ASSERTIONS; i++) {
        set(comm, assertions[i], "true");
        for (int j = 0; j < ASSERTIONS; j++)
            CHECK(!strcmp(value_of(comm, assertions[j]), j <= i ? "true" : "false"), "MPI-5.0 §7.4.4: others stay");
    }
    set(comm, assertions[0], "perhaps");
    CHECK(!strcmp(value_of(comm, assertions[0]), "true"), "MPI-5.0 §7.4.4: ignored, so it stays");
    set(comm, "org.example.unknown", "true");
    CHECK(!*value_of(comm, "org.example.unknown"), "MPI-5.0 §7.4.4: not supported");
    set(comm, "mpi_assert_memory_alloc_kinds", "cuda");
    CHECK(!*value_of(comm, "mpi_assert_memory_alloc_kinds"), "MPI-5.0 §11.4.3");
    set(comm, "mpi_assert_memory_alloc_kinds", "system,mpi:alloc_mem");
    CHECK(!strcmp(value_of(comm, "mpi_assert_memory_alloc_kinds"), "system,mpi:alloc_mem"), "MPI-5.0 §11.4.3");
    /* A duplicate has the hints that it is given and no others. */
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_split(comm, 0, 0, &split);
    for (int i = 0; i < ASSERTIONS; i++) {
        CHECK(!strcmp(value_of(copy, assertions[i]), "false"), "MPI-5.0 §7.4.2");
        CHECK(!strcmp(value_of(split, assertions[i]), "false"), "MPI-5.0 §7.4.2");
    }
    MPI_Comm_free(&copy);
    MPI_Comm_free(&split);
    MPI_Info_create(&info);
    MPI_Info_set(info, assertions[2], "true");
    MPI_Comm_dup_with_info(comm, info, &copy);
    CHECK(!strcmp(value_of(copy, assertions[2]), "true"), "MPI-5.0 §7.4.2");
    CHECK(!strcmp(value_of(copy, assertions[1]), "false"), "MPI-5.0 §7.4.2");
    MPI_Info_free(&info);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    return check_finish();
}
