//! The library that the routines are part of: that of the standard ABI, or one in place of another MPI library's.

use weft_abi::table::Function;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Library {
    Standard,
    Mpich,
    OpenMpi,
}

impl Library {
    /// That of the crate that is being compiled, whose name cargo says.
    pub fn here() -> Library {
        match std::env::var("CARGO_CRATE_NAME").as_deref() {
            Ok("weft_mpich_fortran") => Library::Mpich,
            Ok("weft_openmpi_fortran") => Library::OpenMpi,
            _ => Library::Standard,
        }
    }

    /// The symbol by which C's function is called. A tool for C is to see the call (MPI-5.0 §15.2); tools for the other libraries
    /// have routines of their own for Fortran's calls, and would see both.
    pub fn called(self, c_name: &str) -> String {
        match self {
            Library::Standard => c_name.to_owned(),
            _ => format!("P{c_name}"),
        }
    }

    /// Whether choice buffers of `mpi_f08` come as descriptors.
    pub fn has_descriptors(self) -> bool {
        self != Library::OpenMpi
    }

    /// Whether `mpi_f08` has forms with large counts.
    pub fn has_large_f08(self) -> bool {
        self != Library::OpenMpi
    }

    /// Whether a function's count is large in its only form: the standard ABI has an `int` there by an oversight.
    pub fn has_large_alone(self, function: &Function) -> bool {
        self != Library::Standard && matches!(function.name, "Psend_init" | "Precv_init")
    }

    /// What else a routine of `mpi_f08` is called: MPICH 4's names of its PMPI_ twin and of the form with large counts.
    pub fn names_in_f08(self, symbol: &str) -> Vec<String> {
        if self != Library::Mpich {
            return Vec::new();
        }
        let plain = symbol.trim_start_matches("pmpi_").trim_end_matches('_');
        let name = ["_c_f08ts", "_c_f08"].iter().find_map(|&end| {
            let name = plain.strip_suffix(end)?;
            Some((name, &end[2..]))
        });
        match name {
            Some((name, form)) => vec![
                format!("mpi_{name}{form}_large_"),
                format!("pmpir_{name}{form}_large_"),
            ],
            None => vec![format!("pmpir_{plain}_")],
        }
    }

    /// What else a routine of `mpif.h` is called, of `name` in small letters: what Open MPI's module `mpi_f08` calls.
    pub fn further_names(self, name: &str) -> Vec<String> {
        match self {
            Library::OpenMpi => vec![format!("ompi_{name}_f")],
            _ => Vec::new(),
        }
    }
}
