//! The names of the libraries of other ABIs: libmpi.so.12 of MPICH's, libmpi.so.40 of Open MPI's.

use std::collections::{BTreeMap, BTreeSet};

use weft_abi::table::{self, Function};

use super::c::aliases;
use super::rules::{MAY_NEED, dependencies, names};

/// A library of another ABI.
pub struct Family {
    soname: &'static str,
    /// What is one name alone: data, and functions that the original has beside the standard's.
    alone: &'static [&'static str],
    /// A source file whose lines `NUMBER NAME = HANDLE,` name further data.
    objects: &'static str,
}

pub const MPICH: Family = Family {
    soname: "libmpi.so.12",
    alone: &[
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
        "weft_calling_language",
        "weft_ignored_statuses",
        "weft_mpich_follow",
        "weft_mpich_type_in_section",
    ],
    objects: "",
};

pub const OPENMPI: Family = Family {
    soname: "libmpi.so.40",
    alone: &[
        "MPIX_Query_cuda_support",
        "MPIX_Query_rocm_support",
        "MPI_F08_STATUSES_IGNORE",
        "MPI_F08_STATUS_IGNORE",
        "MPI_F_STATUSES_IGNORE",
        "MPI_F_STATUS_IGNORE",
        "OMPI_C_MPI_COMM_DUP_FN",
        "OMPI_C_MPI_COMM_NULL_COPY_FN",
        "OMPI_C_MPI_COMM_NULL_DELETE_FN",
        "OMPI_C_MPI_DUP_FN",
        "OMPI_C_MPI_NULL_COPY_FN",
        "OMPI_C_MPI_NULL_DELETE_FN",
        "OMPI_C_MPI_TYPE_DUP_FN",
        "OMPI_C_MPI_TYPE_NULL_COPY_FN",
        "OMPI_C_MPI_TYPE_NULL_DELETE_FN",
        "OMPI_C_MPI_WIN_DUP_FN",
        "OMPI_C_MPI_WIN_NULL_COPY_FN",
        "OMPI_C_MPI_WIN_NULL_DELETE_FN",
        "ompi_mpi_cxx_op_intercept",
        "ompi_op_set_cxx_callback",
        "weft_calling_language",
        "weft_ignored_statuses",
    ],
    objects: include_str!("../../../crates/library/interface/openmpi/src/objects.rs"),
};

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

impl Family {
    pub fn complaints(&self, symbols: &BTreeMap<&str, &str>, dynamic: &str) -> Vec<String> {
        // Of the namespace MPI are what programs in C++ take from the bindings, which `cxx` lists.
        let of_c = symbols
            .iter()
            .filter(|(name, _)| !name.starts_with("_ZN3MPI"));
        let of_c: BTreeMap<&str, &str> = of_c.map(|(&name, &address)| (name, address)).collect();
        [
            names(&of_c, &self.expected()),
            aliases(symbols),
            dependencies(dynamic, self.soname, &MAY_NEED),
        ]
        .concat()
    }

    fn expected(&self) -> BTreeSet<String> {
        let alone = self.alone.iter().copied().chain(self.objects());
        table::functions()
            .chain(&table::extensions().functions)
            .flat_map(Function::c_names)
            .chain(MORE.map(str::to_string))
            .flat_map(|name| [format!("P{name}"), name])
            .chain(alone.map(str::to_string))
            .collect()
    }

    fn objects(&self) -> impl Iterator<Item = &'static str> {
        self.objects.lines().filter_map(|line| {
            let (declared, _) = line.split_once(" = ")?;
            let (number, name) = declared.trim().split_once(' ')?;
            number.parse::<i32>().ok().map(|_| name)
        })
    }
}
