//! What an error leads to (MPI-5.0 §9.3).

use std::sync::atomic::{AtomicU8, Ordering};

use super::{Class, Error, Result};
use crate::CommId;
use crate::process::Phase;

/// A predefined error handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Handler {
    /// `MPI_ERRORS_ARE_FATAL`: every process of the job ends.
    Fatal,
    /// `MPI_ERRORS_ABORT`: every process of the communicator ends.
    Abort,
    /// `MPI_ERRORS_RETURN`: the call returns the class.
    Return,
}

/// A communicator's handler, which any thread may replace.
#[derive(Debug)]
pub(crate) struct HandlerCell(AtomicU8);

impl HandlerCell {
    pub const fn new(handler: Handler) -> HandlerCell {
        HandlerCell(AtomicU8::new(handler as u8))
    }

    pub fn load(&self) -> Handler {
        match self.0.load(Ordering::Relaxed) {
            0 => Handler::Fatal,
            1 => Handler::Abort,
            _ => Handler::Return,
        }
    }

    pub fn store(&self, handler: Handler) {
        self.0.store(handler as u8, Ordering::Relaxed);
    }
}

/// Handles an error of the MPI function `name`: on `comm`, the communicator that the call named, if it is one,
/// else on the operation's own, else on `MPI_COMM_SELF` (MPI-5.0 §9.3.1). Returns the error's code.
#[cold]
pub fn raise(error: &Error, name: &str, comm: Option<CommId>) -> i32 {
    let code = error.code();
    // Outside there is no communicator whose handler could be asked.
    let inside = crate::process::phase() == Phase::Active;
    let concerned = [comm, error.comm]
        .into_iter()
        .flatten()
        .filter(|_| inside)
        .find_map(|id| crate::comm::find(id).ok());
    let handler = match &concerned {
        Some(comm) => comm.handler(),
        None => crate::process::default_handler(),
    };
    if handler == Handler::Return {
        return code;
    }
    let class = super::strings::string(error.class as i32);
    crate::process::abort(code, &format!("{name}: {error} ({class})"))
}

/// The handler of a communicator.
pub fn handler_of(comm: CommId) -> Result<Handler> {
    Ok(crate::comm::find(comm)?.handler())
}

/// Replaces a communicator's handler.
pub fn set_handler(comm: CommId, handler: Handler) -> Result<()> {
    crate::comm::find(comm)?.set_handler(handler);
    Ok(())
}

/// An error about an argument: `what` is wrong with `argument`.
#[cold]
pub(crate) fn argument(class: Class, argument: &str, what: impl std::fmt::Display) -> Error {
    Error::new(class, format!("{argument}: {what}"))
}
