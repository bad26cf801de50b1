//! The names of libmpi.so.12: those of MPICH's ABI.

use std::collections::{BTreeMap, BTreeSet};

use weft_abi::table::{self, Function};

use super::c::aliases;
use super::rules::{MAY_NEED, dependencies, names};

const SONAME: &str = "libmpi.so.12";

/// Functions that the standard ABI does not have.
const MORE: [&str; 38] = [
    "MPI_Address",
    "MPI_Comm_c2f",
    "MPI_Comm_f2c",
    "MPI_Errhandler_c2f",
    "MPI_Errhandler_create",
    "MPI_Errhandler_f2c",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_File_c2f",
    "MPI_File_f2c",
    "MPI_Group_c2f",
    "MPI_Group_f2c",
    "MPI_Info_c2f",
    "MPI_Info_f2c",
    "MPI_Message_c2f",
    "MPI_Message_f2c",
    "MPI_Op_c2f",
    "MPI_Op_f2c",
    "MPI_Request_c2f",
    "MPI_Request_f2c",
    "MPI_Session_c2f",
    "MPI_Session_f2c",
    "MPI_Status_c2f",
    "MPI_Status_c2f08",
    "MPI_Status_f082c",
    "MPI_Status_f082f",
    "MPI_Status_f2c",
    "MPI_Status_f2f08",
    "MPI_Type_c2f",
    "MPI_Type_extent",
    "MPI_Type_f2c",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
    "MPI_Win_c2f",
    "MPI_Win_f2c",
];

/// What is one name alone: data, and functions that MPICH has beside the standard's.
const ALONE: [&str; 14] = [
    "MPIR_Dup_fn",
    "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
    "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
    "MPIX_GPU_query_support",
    "MPIX_Query_cuda_support",
    "MPIX_Query_hip_support",
    "MPIX_Query_ze_support",
    "MPI_F08_STATUSES_IGNORE",
    "MPI_F08_STATUS_IGNORE",
    "MPI_F_STATUSES_IGNORE",
    "MPI_F_STATUS_IGNORE",
    "MPI_T_PVAR_ALL_HANDLES",
    "MPI_UNWEIGHTED",
    "MPI_WEIGHTS_EMPTY",
];

pub fn complaints(symbols: &BTreeMap<&str, &str>, dynamic: &str) -> Vec<String> {
    [
        names(symbols, &expected()),
        aliases(symbols),
        dependencies(dynamic, SONAME, &MAY_NEED),
    ]
    .concat()
}

fn expected() -> BTreeSet<String> {
    table::functions()
        .flat_map(Function::c_names)
        .chain(MORE.map(str::to_string))
        .flat_map(|name| [format!("P{name}"), name])
        .chain(ALONE.map(str::to_string))
        .collect()
}
