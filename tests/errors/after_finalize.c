/* A call after MPI_Finalize ends the job (MPI-5.0 §11.4.1, §9.3: errors outside of any object are fatal).
 * exit: nonzero
 * ranks: 1,2 */
#include "check.h"

int main(int argc, char **argv)
{
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    check_say_started("after_finalize");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("ok after_finalize checks=%d\n", size);
    return 0;
}
