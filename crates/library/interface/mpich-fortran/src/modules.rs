//! The names that gfortran gives to procedures in MPICH's modules `mpi` and `mpi_f08`.

use std::ffi::c_int;

use crate::abi::{MPI_SUCCESS, MPI_Status};
use crate::family::names;
use crate::family::procedures::{equal, keep_order, size_of, unequal};
use crate::ierror;

/// A handle of C's is its integer.
extern "C" fn same(handle: c_int) -> c_int {
    handle
}

/// A status has the same words in both forms.
unsafe extern "C" fn copy_status(from: *const MPI_Status, to: *mut MPI_Status, ierror: *mut c_int) {
    // SAFETY: two statuses, and an INTEGER if there is one.
    unsafe {
        from.copy_to(to, 1);
        ierror::store(ierror, MPI_SUCCESS);
    }
}

/// `=` of a status of C's and one of `mpi_f08`.
unsafe extern "C" fn assign(to: *mut MPI_Status, from: *const MPI_Status) {
    // SAFETY: two statuses.
    unsafe { from.copy_to(to, 1) };
}

names! {
    equal:
        "__mpi_f08_types_MOD_mpi_comm_eq" "__mpi_f08_types_MOD_mpi_comm_f08_eq_f"
        "__mpi_f08_types_MOD_mpi_comm_f_eq_f08" "__mpi_constants_MOD_commeq" "__mpi_f08_types_MOD_mpi_datatype_eq"
        "__mpi_f08_types_MOD_mpi_datatype_f08_eq_f" "__mpi_f08_types_MOD_mpi_datatype_f_eq_f08"
        "__mpi_constants_MOD_datatypeeq" "__mpi_f08_types_MOD_mpi_errhandler_eq"
        "__mpi_f08_types_MOD_mpi_errhandler_f08_eq_f" "__mpi_f08_types_MOD_mpi_errhandler_f_eq_f08"
        "__mpi_constants_MOD_errhandlereq" "__mpi_f08_types_MOD_mpi_file_eq" "__mpi_f08_types_MOD_mpi_file_f08_eq_f"
        "__mpi_f08_types_MOD_mpi_file_f_eq_f08" "__mpi_constants_MOD_fileeq" "__mpi_f08_types_MOD_mpi_group_eq"
        "__mpi_f08_types_MOD_mpi_group_f08_eq_f" "__mpi_f08_types_MOD_mpi_group_f_eq_f08"
        "__mpi_constants_MOD_groupeq" "__mpi_f08_types_MOD_mpi_info_eq" "__mpi_f08_types_MOD_mpi_info_f08_eq_f"
        "__mpi_f08_types_MOD_mpi_info_f_eq_f08" "__mpi_constants_MOD_infoeq" "__mpi_f08_types_MOD_mpi_message_eq"
        "__mpi_f08_types_MOD_mpi_message_f08_eq_f" "__mpi_f08_types_MOD_mpi_message_f_eq_f08"
        "__mpi_constants_MOD_messageeq" "__mpi_f08_types_MOD_mpi_op_eq" "__mpi_f08_types_MOD_mpi_op_f08_eq_f"
        "__mpi_f08_types_MOD_mpi_op_f_eq_f08" "__mpi_constants_MOD_opeq" "__mpi_f08_types_MOD_mpi_request_eq"
        "__mpi_f08_types_MOD_mpi_request_f08_eq_f" "__mpi_f08_types_MOD_mpi_request_f_eq_f08"
        "__mpi_constants_MOD_requesteq" "__mpi_f08_types_MOD_mpi_session_eq"
        "__mpi_f08_types_MOD_mpi_session_f08_eq_f" "__mpi_f08_types_MOD_mpi_session_f_eq_f08"
        "__mpi_f08_types_MOD_mpi_win_eq" "__mpi_f08_types_MOD_mpi_win_f08_eq_f" "__mpi_f08_types_MOD_mpi_win_f_eq_f08"
        "__mpi_constants_MOD_wineq";
    unequal:
        "__mpi_f08_types_MOD_mpi_comm_neq" "__mpi_f08_types_MOD_mpi_comm_f08_neq_f"
        "__mpi_f08_types_MOD_mpi_comm_f_neq_f08" "__mpi_constants_MOD_commneq" "__mpi_f08_types_MOD_mpi_datatype_neq"
        "__mpi_f08_types_MOD_mpi_datatype_f08_neq_f" "__mpi_f08_types_MOD_mpi_datatype_f_neq_f08"
        "__mpi_constants_MOD_datatypeneq" "__mpi_f08_types_MOD_mpi_errhandler_neq"
        "__mpi_f08_types_MOD_mpi_errhandler_f08_neq_f" "__mpi_f08_types_MOD_mpi_errhandler_f_neq_f08"
        "__mpi_constants_MOD_errhandlerneq" "__mpi_f08_types_MOD_mpi_file_neq"
        "__mpi_f08_types_MOD_mpi_file_f08_neq_f" "__mpi_f08_types_MOD_mpi_file_f_neq_f08"
        "__mpi_constants_MOD_fileneq" "__mpi_f08_types_MOD_mpi_group_neq" "__mpi_f08_types_MOD_mpi_group_f08_neq_f"
        "__mpi_f08_types_MOD_mpi_group_f_neq_f08" "__mpi_constants_MOD_groupneq" "__mpi_f08_types_MOD_mpi_info_neq"
        "__mpi_f08_types_MOD_mpi_info_f08_neq_f" "__mpi_f08_types_MOD_mpi_info_f_neq_f08"
        "__mpi_constants_MOD_infoneq" "__mpi_f08_types_MOD_mpi_message_neq"
        "__mpi_f08_types_MOD_mpi_message_f08_neq_f" "__mpi_f08_types_MOD_mpi_message_f_neq_f08"
        "__mpi_constants_MOD_messageneq" "__mpi_f08_types_MOD_mpi_op_neq" "__mpi_f08_types_MOD_mpi_op_f08_neq_f"
        "__mpi_f08_types_MOD_mpi_op_f_neq_f08" "__mpi_constants_MOD_opneq" "__mpi_f08_types_MOD_mpi_request_neq"
        "__mpi_f08_types_MOD_mpi_request_f08_neq_f" "__mpi_f08_types_MOD_mpi_request_f_neq_f08"
        "__mpi_constants_MOD_requestneq" "__mpi_f08_types_MOD_mpi_session_neq"
        "__mpi_f08_types_MOD_mpi_session_f08_neq_f" "__mpi_f08_types_MOD_mpi_session_f_neq_f08"
        "__mpi_f08_types_MOD_mpi_win_neq" "__mpi_f08_types_MOD_mpi_win_f08_neq_f"
        "__mpi_f08_types_MOD_mpi_win_f_neq_f08" "__mpi_constants_MOD_winneq";
    same:
        "__mpi_f08_types_MOD_mpi_comm_c2f" "__mpi_f08_types_MOD_mpi_comm_f2c" "__mpi_f08_types_MOD_mpi_datatype_c2f"
        "__mpi_f08_types_MOD_mpi_datatype_f2c" "__mpi_f08_types_MOD_mpi_errhandler_c2f"
        "__mpi_f08_types_MOD_mpi_errhandler_f2c" "__mpi_f08_types_MOD_mpi_group_c2f"
        "__mpi_f08_types_MOD_mpi_group_f2c" "__mpi_f08_types_MOD_mpi_info_c2f" "__mpi_f08_types_MOD_mpi_info_f2c"
        "__mpi_f08_types_MOD_mpi_message_c2f" "__mpi_f08_types_MOD_mpi_message_f2c" "__mpi_f08_types_MOD_mpi_op_c2f"
        "__mpi_f08_types_MOD_mpi_op_f2c" "__mpi_f08_types_MOD_mpi_request_c2f" "__mpi_f08_types_MOD_mpi_request_f2c"
        "__mpi_f08_types_MOD_mpi_session_c2f" "__mpi_f08_types_MOD_mpi_session_f2c" "__mpi_f08_types_MOD_mpi_win_c2f"
        "__mpi_f08_types_MOD_mpi_win_f2c";
    copy_status:
        "__mpi_f08_types_MOD_mpi_status_f082f" "__mpi_f08_types_MOD_mpi_status_f2f08";
    assign:
        "__mpi_f08_types_MOD_mpi_status_c_assign_f08" "__mpi_f08_types_MOD_mpi_status_f08_assign_c";
    keep_order:
        "mpi_f_sync_reg" "mpi_f_sync_reg_" "mpi_f_sync_reg__" "MPI_F_SYNC_REG"
        "pmpi_f_sync_reg" "pmpi_f_sync_reg_" "pmpi_f_sync_reg__" "PMPI_F_SYNC_REG"
        "mpi_f_sync_reg_f08ts_" "pmpir_f_sync_reg_f08ts_";
    size_of::<1>:
        "__mpi_f08_types_MOD_mpi_sizeof_xint8" "__mpi_f08_types_MOD_mpi_sizeof_character"
        "__mpi_sizeofs_MOD_mpi_sizeof_ch" "__mpi_sizeofs_MOD_mpi_sizeof_chv" "__mpi_sizeofs_MOD_mpi_sizeof_i1"
        "__mpi_sizeofs_MOD_mpi_sizeof_i1v";
    size_of::<2>:
        "__mpi_f08_types_MOD_mpi_sizeof_xint16" "__mpi_sizeofs_MOD_mpi_sizeof_i2" "__mpi_sizeofs_MOD_mpi_sizeof_i2v";
    size_of::<4>:
        "__mpi_f08_types_MOD_mpi_sizeof_xint32" "__mpi_f08_types_MOD_mpi_sizeof_xreal32"
        "__mpi_f08_types_MOD_mpi_sizeof_logical" "__mpi_sizeofs_MOD_mpi_sizeof_i" "__mpi_sizeofs_MOD_mpi_sizeof_iv"
        "__mpi_sizeofs_MOD_mpi_sizeof_l" "__mpi_sizeofs_MOD_mpi_sizeof_lv" "__mpi_sizeofs_MOD_mpi_sizeof_r"
        "__mpi_sizeofs_MOD_mpi_sizeof_rv";
    size_of::<8>:
        "__mpi_f08_types_MOD_mpi_sizeof_xint64" "__mpi_f08_types_MOD_mpi_sizeof_xreal64"
        "__mpi_f08_types_MOD_mpi_sizeof_xcomplex32" "__mpi_sizeofs_MOD_mpi_sizeof_d" "__mpi_sizeofs_MOD_mpi_sizeof_dv"
        "__mpi_sizeofs_MOD_mpi_sizeof_i8" "__mpi_sizeofs_MOD_mpi_sizeof_i8v" "__mpi_sizeofs_MOD_mpi_sizeof_cx"
        "__mpi_sizeofs_MOD_mpi_sizeof_cxv";
    size_of::<16>:
        "__mpi_f08_types_MOD_mpi_sizeof_xreal128" "__mpi_f08_types_MOD_mpi_sizeof_xcomplex64";
    size_of::<32>:
        "__mpi_f08_types_MOD_mpi_sizeof_xcomplex128";
}
