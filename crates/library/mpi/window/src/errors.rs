//! Errors of one-sided calls.

use weft_error::{Class, Error, argument};
use weft_rma::Fault;

/// The error of an access that did not reach its memory.
#[cold]
pub(super) fn unreached(fault: Fault) -> Error {
    match fault {
        Fault::Range => argument(
            Class::RmaRange,
            "target_disp",
            "not all of the target data are in the target's part of the window",
        ),
        Fault::NoMemory => weft_reserve::NoMemory.into(),
        Fault::Lost(lost) => Error::new(Class::ProcAborted, lost.to_string()),
    }
}

/// The error of a call that does not fit the epochs that are open (MPI-5.0 §12.5).
#[cold]
pub(super) fn out_of_order(what: &'static str) -> Error {
    argument(Class::RmaSync, "win", what)
}
