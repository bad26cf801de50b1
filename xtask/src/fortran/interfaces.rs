//! The interfaces of all routines.

use weft_abi::table::{self, Function};

use super::routine::body;

/// The predefined functions of attribute keys, which a program passes on.
const FUNCTIONS: [&str; 12] = [
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
];

/// Types that MPI_SIZEOF takes, and the end of the name of the routine that answers (MPI-5.0 §19.1.9).
const SIZES: [(&str, &str); 19] = [
    ("integer1", "integer(kind=1)"),
    ("integer2", "integer(kind=2)"),
    ("integer4", "integer(kind=4)"),
    ("integer8", "integer(kind=8)"),
    ("integer16", "integer(kind=16)"),
    ("real4", "real(kind=4)"),
    ("real8", "real(kind=8)"),
    ("real10", "real(kind=10)"),
    ("real16", "real(kind=16)"),
    ("complex4", "complex(kind=4)"),
    ("complex8", "complex(kind=8)"),
    ("complex10", "complex(kind=10)"),
    ("complex16", "complex(kind=16)"),
    ("logical1", "logical(kind=1)"),
    ("logical2", "logical(kind=2)"),
    ("logical4", "logical(kind=4)"),
    ("logical8", "logical(kind=8)"),
    ("logical16", "logical(kind=16)"),
    ("character1", "character(len=*)"),
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

/// The argument may have any rank, and nothing of it is looked at but its type.
fn sizeof(prefix: &str) -> String {
    let mut text = format!("\n  interface {prefix}MPI_Sizeof\n");
    for (name, of_type) in SIZES {
        text += &format!(
            "    subroutine {prefix}MPI_Sizeof_{name}(x, size, ierror)\n      {of_type} :: x(..)\n      \
             integer :: size\n      integer :: ierror\n    end subroutine\n"
        );
    }
    text + "  end interface\n"
}
