//! Gives the library the SONAME of Open MPI's for Fortran, its exports, and the dependency on libmpi.so.40.

include!("../fortran/link.rs");

fn main() {
    link(&Libraries {
        own: "libmpi_mpifh.so.40",
        c: "libmpi.so.40",
        more_of_c: &[
            "MPI_F08_STATUSES_IGNORE",
            "MPI_F08_STATUS_IGNORE",
            "MPI_F_STATUSES_IGNORE",
            "MPI_F_STATUS_IGNORE",
            "PMPI_Comm_c2f",
            "PMPI_Comm_f2c",
            "PMPI_Errhandler_c2f",
            "PMPI_Errhandler_f2c",
            "PMPI_File_c2f",
            "PMPI_File_f2c",
            "PMPI_Group_c2f",
            "PMPI_Group_f2c",
            "PMPI_Info_c2f",
            "PMPI_Info_f2c",
            "PMPI_Message_c2f",
            "PMPI_Message_f2c",
            "PMPI_Op_c2f",
            "PMPI_Op_f2c",
            "PMPI_Request_c2f",
            "PMPI_Request_f2c",
            "PMPI_Session_c2f",
            "PMPI_Session_f2c",
            "PMPI_Type_c2f",
            "PMPI_Type_f2c",
            "PMPI_Win_c2f",
            "PMPI_Win_f2c",
            "weft_calling_language",
            "weft_ignored_statuses",
        ],
    });
}
