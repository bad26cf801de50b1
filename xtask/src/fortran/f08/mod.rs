//! The module `mpi_f08`.
//!
//! A procedure with a choice buffer is BIND(C), so that each compiler passes the buffer by the descriptor that C knows; all
//! others are plain, so that strings, procedures and LOGICALs are passed as in `mpif.h`.

mod callbacks;
mod dummy;
mod procedure;
mod types;

use weft_abi::table::{self, Function};

use super::constants::{Form, constants};
use procedure::{body, interface};

pub fn modules() -> String {
    let mut text = types::module();
    text += "\nmodule mpi_f08\n  use, intrinsic :: iso_c_binding, only: c_ptr\n  use mpi_f08_types\n  implicit none\n";
    text += &constants(Form::Typed);
    text += &callbacks::interfaces();
    for prefix in ["", "P"] {
        for function in functions() {
            text += &interface(function, prefix);
        }
        text += &without_c(prefix);
    }
    text + "end module mpi_f08\n"
}

fn functions() -> impl Iterator<Item = &'static Function> {
    table::functions().filter(|function| function.has_f08())
}

/// What C does not have.
fn without_c(prefix: &str) -> String {
    let mut text = String::new();
    for (name, dummies, bound, declarations) in [
        (
            "F_sync_reg",
            "buf",
            true,
            "type(*), dimension(..), asynchronous :: buf\n",
        ),
        (
            "Sizeof",
            "x, size, ierror",
            true,
            "type(*), dimension(..) :: x\ninteger, intent(out) :: size\ninteger, optional, intent(out) :: ierror\n",
        ),
        (
            "Status_f2f08",
            "f_status, f08_status, ierror",
            false,
            "integer, intent(in) :: f_status(MPI_STATUS_SIZE)\ntype(MPI_Status), intent(out) :: f08_status\n\
             integer, optional, intent(out) :: ierror\n",
        ),
        (
            "Status_f082f",
            "f08_status, f_status, ierror",
            false,
            "type(MPI_Status), intent(in) :: f08_status\ninteger, intent(out) :: f_status(MPI_STATUS_SIZE)\n\
             integer, optional, intent(out) :: ierror\n",
        ),
    ] {
        text += &format!("\n  interface {prefix}MPI_{name}\n");
        text += &body(prefix, name, dummies, bound, declarations);
        text += "  end interface\n";
    }
    text
}
