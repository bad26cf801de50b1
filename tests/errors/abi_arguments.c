/* Wrong arguments of the calls about the ABI and about Fortran: MPI-5.0 §20.4. They belong to no object, so errors go to
 * MPI_COMM_SELF's handler.
 * ranks: 1 */
#include "expect.h"

int main(int argc, char **argv)
{
    long long yes = 0, no = 0;
    int number, is_set;
    MPI_Info info, freed;
    expect_start(&argc, &argv, "abi_arguments");
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_version(NULL, &number));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_version(&number, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_info(NULL));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_fortran_info(NULL));
    EXPECT(MPI_ERR_INFO, MPI_Abi_set_fortran_info(MPI_INFO_NULL));
    EXPECT(MPI_ERR_INFO, MPI_Abi_set_fortran_info((MPI_Info)(uintptr_t)0x5000));
    MPI_Info_create(&info);
    /* The library knows what Fortran is like, so this is a second time. */
    EXPECT(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    freed = info;
    MPI_Info_free(&info);
    EXPECT(MPI_ERR_INFO, MPI_Abi_set_fortran_info(freed));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(-4, &yes, &no, &is_set));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(4, NULL, &no, &is_set));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(4, &yes, NULL, &is_set));
    EXPECT(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(4, &yes, &no, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Abi_set_fortran_booleans(0, &yes, &no));
    EXPECT(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &yes, &no));
    return expect_finish();
}
