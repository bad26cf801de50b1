/* MPI_Init leaves the program's own arguments alone, also when a launcher added some. */
#include "check.h"

int main(int argc, char **argv)
{
    int argc_before = argc;
    char **argv_before = argv;
    char *name_before = argv[0];
    check_start(&argc, &argv, "init_arguments");
    CHECK(argc == argc_before && argv == argv_before, "MPI-5.0 §11.2.1");
    CHECK(argv[0] == name_before && argv[argc] == NULL, "MPI-5.0 §11.2.1");
    return check_finish();
}
