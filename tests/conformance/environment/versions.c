/* Versions and the processor's name. */
#include "check.h"

int main(int argc, char **argv)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    int version = -1, subversion = -1, length = -1;
    check_start(&argc, &argv, "versions");
    MPI_Get_version(&version, &subversion);
    CHECK_EQUAL(version, MPI_VERSION, "MPI-5.0 §9.1.1");
    CHECK_EQUAL(subversion, MPI_SUBVERSION, "MPI-5.0 §9.1.1");
    CHECK(version == 5 && subversion == 0, "MPI-5.0 §9.1.1");
    memset(text, 'x', sizeof text);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING, "MPI-5.0 §9.1.1");
    CHECK_EQUAL(strlen(text), length, "MPI-5.0 §9.1.1: the length without the terminating null");
    memset(name, 'x', sizeof name);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME, "MPI-5.0 §9.1.2");
    CHECK_EQUAL(strlen(name), length, "MPI-5.0 §9.1.2: the length without the terminating null");
    return check_finish();
}
