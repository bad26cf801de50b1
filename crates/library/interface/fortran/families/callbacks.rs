//! The predefined functions by the names that gfortran gives them in the modules `mpi_f08` of other libraries.

macro_rules! in_module {
    ($($name:literal)*) => {
        ::std::arch::global_asm!($(concat!(
            ".globl __mpi_f08_callbacks_MOD_", $name, "\n",
            ".type __mpi_f08_callbacks_MOD_", $name, ", @function\n",
            ".set __mpi_f08_callbacks_MOD_", $name, ", p", $name, "_",
        ),)*);
    };
}

in_module! {
    "mpi_comm_dup_fn"
    "mpi_comm_null_copy_fn"
    "mpi_comm_null_delete_fn"
    "mpi_type_dup_fn"
    "mpi_type_null_copy_fn"
    "mpi_type_null_delete_fn"
    "mpi_win_dup_fn"
    "mpi_win_null_copy_fn"
    "mpi_win_null_delete_fn"
    "mpi_conversion_fn_null"
    "mpi_conversion_fn_null_c"
}
