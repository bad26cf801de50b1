//! The interfaces of all routines.

use weft_abi::table::{self, Function};

use super::routine::body;

/// Predefined functions, which a program passes on.
const FUNCTIONS: [&str; 13] = [
    "NULL_COPY_FN",
    "NULL_DELETE_FN",
    "DUP_FN",
    "COMM_NULL_COPY_FN",
    "COMM_NULL_DELETE_FN",
    "COMM_DUP_FN",
    "TYPE_NULL_COPY_FN",
    "TYPE_NULL_DELETE_FN",
    "TYPE_DUP_FN",
    "WIN_NULL_COPY_FN",
    "WIN_NULL_DELETE_FN",
    "WIN_DUP_FN",
    "CONVERSION_FN_NULL",
];

fn routines() -> impl Iterator<Item = &'static Function> {
    table::functions().filter(|function| function.has_fortran())
}

/// What `mpif.h` says of procedures: the types of functions, and names that may be passed on.
pub fn externals() -> String {
    let mut text = String::from("\n! Functions, and procedures that are arguments\n");
    for prefix in ["", "P"] {
        for (of_type, name) in [
            ("double precision", "WTIME"),
            ("double precision", "WTICK"),
            ("integer(kind=MPI_ADDRESS_KIND)", "AINT_ADD"),
            ("integer(kind=MPI_ADDRESS_KIND)", "AINT_DIFF"),
        ] {
            text +=
                &format!("      {of_type} {prefix}MPI_{name}\n      external {prefix}MPI_{name}\n");
        }
    }
    for name in FUNCTIONS {
        text += &format!("      external MPI_{name}\n");
    }
    text
}

/// The interfaces of the module.
pub fn all() -> String {
    let mut text = String::from("  ! Procedures that are arguments\n");
    for name in FUNCTIONS {
        text += &format!("  external :: MPI_{name}\n");
    }
    for prefix in ["", "P"] {
        text += "\n  interface\n";
        for function in routines().filter(|function| !hands_out_address(function)) {
            text += &body(function, prefix, "", false);
        }
        text += &sync_reg(prefix);
        text += "  end interface\n";
        for function in routines().filter(|function| hands_out_address(function)) {
            text += &format!("\n  interface {prefix}MPI_{}\n", function.name);
            text += &body(function, prefix, "", false);
            text += &body(function, prefix, "_cptr", true);
            text += "  end interface\n";
        }
        text += &sizeof(prefix);
    }
    text
}

/// Functions whose address comes out as an integer or as a TYPE(C_PTR): a generic name for both (MPI-5.0 §9.2, §12.2).
fn hands_out_address(function: &Function) -> bool {
    function
        .parameters
        .iter()
        .any(|parameter| parameter.kind == "C_BUFFER")
}

fn sync_reg(prefix: &str) -> String {
    format!(
        "    subroutine {prefix}MPI_F_sync_reg(buf)\n      type(*), dimension(*) :: buf\n      \
         !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n      !DIR$ IGNORE_TKR buf\n    end subroutine\n"
    )
}

/// The argument may be of any type and rank (MPI-5.0 §19.1.9): its descriptor says how large an element is, so that no kind is
/// named here that a compiler may not have.
fn sizeof(prefix: &str) -> String {
    let symbol = format!("{}mpi_sizeof_f08ts_", prefix.to_lowercase());
    format!(
        "\n  interface {prefix}MPI_Sizeof\n    \
         subroutine {prefix}MPI_Sizeof_described(x, size, ierror) bind(C, name=\"{symbol}\")\n      \
         type(*), dimension(..) :: x\n      integer :: size\n      integer :: ierror\n    end subroutine\n  \
         end interface\n"
    )
}
