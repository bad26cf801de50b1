/* MPI_Abi_get_version and MPI_Abi_get_info, before, between and after initialization. */
#include "check.h"

static void version_is_one_zero(void)
{
    int major = -7, minor = -7;
    CHECK_EQUAL(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS, "MPI-5.0 §20.2");
    CHECK_EQUAL(major, MPI_ABI_VERSION, "MPI-5.0 §20.2");
    CHECK_EQUAL(minor, MPI_ABI_SUBVERSION, "MPI-5.0 §20.2");
}

static void holds_size(MPI_Info info, const char *key, size_t expected)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int length = sizeof value, flag = 0;
    MPI_Info_get_string(info, key, &length, value, &flag);
    CHECK(flag, "MPI-5.0 §20.2", "%s is missing", key);
    CHECK_EQUAL(atoi(value), expected, "MPI-5.0 §20.2");
}

int main(int argc, char **argv)
{
    version_is_one_zero();
    check_start(&argc, &argv, "abi_version");
    version_is_one_zero();
    MPI_Info info = MPI_INFO_NULL;
    MPI_Abi_get_info(&info);
    CHECK(info != MPI_INFO_NULL, "MPI-5.0 §20.2");
    holds_size(info, "mpi_aint_size", sizeof(MPI_Aint));
    holds_size(info, "mpi_count_size", sizeof(MPI_Count));
    holds_size(info, "mpi_offset_size", sizeof(MPI_Offset));
    MPI_Info_free(&info);
    check_report();
    MPI_Finalize();
    version_is_one_zero();
    return 0;
}
