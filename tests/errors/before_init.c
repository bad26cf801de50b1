/* A call before MPI_Init ends the job (MPI-5.0 §11.4.1, §9.3: errors outside of any object are fatal).
 * exit: nonzero
 * ranks: 1,2 */
#include "check.h"

int main(int argc, char **argv)
{
    int size = 0;
    check_say_started("before_init");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_start(&argc, &argv, "before_init");
    return check_finish();
}
