//! Gives the library the SONAME of MPICH's for Fortran, its exports, and the dependency on libmpi.so.12.

include!("../fortran/link.rs");

fn main() {
    link(&Libraries {
        own: "libmpifort.so.12",
        c: "libmpi.so.12",
        more_of_c: &[
            "MPI_F08_STATUSES_IGNORE",
            "MPI_F08_STATUS_IGNORE",
            "MPI_F_STATUSES_IGNORE",
            "MPI_F_STATUS_IGNORE",
            "MPI_UNWEIGHTED",
            "MPI_WEIGHTS_EMPTY",
            "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
            "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
            "PMPI_File_c2f",
            "PMPI_File_f2c",
            "weft_calling_language",
            "weft_ignored_statuses",
            "weft_mpich_follow",
            "weft_mpich_type_in_section",
        ],
    });
}
