//! The names that Open MPI's modules `mpi` and `mpi_f08` have for procedures.

use crate::family::names;
use crate::family::procedures::{equal, keep_order, size_of, unequal};

names! {
    equal:
        "__mpi_f08_types_MOD_ompi_comm_op_eq" "__mpi_f08_types_MOD_ompi_datatype_op_eq"
        "__mpi_f08_types_MOD_ompi_errhandler_op_eq" "__mpi_f08_types_MOD_ompi_file_op_eq"
        "__mpi_f08_types_MOD_ompi_group_op_eq" "__mpi_f08_types_MOD_ompi_info_op_eq"
        "__mpi_f08_types_MOD_ompi_message_op_eq" "__mpi_f08_types_MOD_ompi_op_op_eq"
        "__mpi_f08_types_MOD_ompi_request_op_eq" "__mpi_f08_types_MOD_ompi_session_op_eq"
        "__mpi_f08_types_MOD_ompi_win_op_eq";
    unequal:
        "__mpi_f08_types_MOD_ompi_comm_op_ne" "__mpi_f08_types_MOD_ompi_datatype_op_ne"
        "__mpi_f08_types_MOD_ompi_errhandler_op_ne" "__mpi_f08_types_MOD_ompi_file_op_ne"
        "__mpi_f08_types_MOD_ompi_group_op_ne" "__mpi_f08_types_MOD_ompi_info_op_ne"
        "__mpi_f08_types_MOD_ompi_message_op_ne" "__mpi_f08_types_MOD_ompi_op_op_ne"
        "__mpi_f08_types_MOD_ompi_request_op_ne" "__mpi_f08_types_MOD_ompi_session_op_ne"
        "__mpi_f08_types_MOD_ompi_win_op_ne";
    keep_order:
        "mpi_f_sync_reg" "mpi_f_sync_reg_" "mpi_f_sync_reg__" "MPI_F_SYNC_REG" "ompi_f_sync_reg_f"
        "pmpi_f_sync_reg" "pmpi_f_sync_reg_" "pmpi_f_sync_reg__" "PMPI_F_SYNC_REG"
        "mpi_f_sync_reg_f08_" "pmpi_f_sync_reg_f08_";
}

/// `MPI_SIZEOF` has a procedure for each type and each number of dimensions.
macro_rules! sizes {
    ($($bytes:literal: $($kind:literal)*;)*) => {
        $($(sizes!(@ranks $bytes $kind "scalar" "r1" "r2" "r3" "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15");)*)*
    };
    (@ranks $bytes:literal $kind:literal $($rank:literal)*) => {
        ::std::arch::global_asm!(
            $(
                concat!(".globl mpi_sizeof_", $kind, "_", $rank, "_\n.set mpi_sizeof_", $kind, "_", $rank, "_, {function}"),
                concat!(".globl pmpi_sizeof_", $kind, "_", $rank, "_\n.set pmpi_sizeof_", $kind, "_", $rank, "_, {function}"),
            )*
            function = sym size_of::<$bytes>,
        );
    };
}

sizes! {
    1: "int8" "character";
    2: "int16";
    4: "int32" "real32" "logical";
    8: "int64" "real64" "complex32";
    16: "real128" "complex64";
    32: "complex128";
}
