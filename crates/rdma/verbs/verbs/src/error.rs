//! What went wrong: the call, the object it was about, the error number.

use std::ffi::c_int;
use std::{fmt, io};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The C function.
    pub call: &'static str,
    /// The object that it was about, such as `softrdma0` or `queue pair 0x11 of softrdma0`.
    pub object: String,
    pub errno: c_int,
}

impl Error {
    pub(crate) fn new(call: &'static str, object: impl Into<String>, errno: c_int) -> Error {
        Error {
            call,
            object: object.into(),
            errno,
        }
    }

    /// With the thread's `errno`, which a call that answered with a null pointer has set.
    pub(crate) fn last(call: &'static str, object: impl Into<String>) -> Error {
        let errno = io::Error::last_os_error().raw_os_error();
        Error::new(call, object, errno.unwrap_or(libc::EIO))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = io::Error::from_raw_os_error(self.errno);
        write!(formatter, "{} on {}: {reason}", self.call, self.object)
    }
}

impl std::error::Error for Error {}

/// Why a list was not posted to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostError {
    /// Requests that were posted: those before the one that was refused.
    pub posted: usize,
    pub error: Error,
}

impl fmt::Display for PostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} posted)", self.error, self.posted)
    }
}

impl std::error::Error for PostError {}

/// A call that answers 0, -1 with `errno`, or an error number.
pub(crate) fn check(
    call: &'static str,
    answer: c_int,
    object: impl FnOnce() -> String,
) -> Result<(), Error> {
    match answer {
        0 => Ok(()),
        -1 => Err(Error::last(call, object())),
        errno => Err(Error::new(call, object(), errno)),
    }
}

/// The answer of a call that destroys. What an object stands on it owns, so the library has no reason to refuse; if it
/// does, the object is lost, and that is told.
pub(crate) fn destroyed(call: &'static str, answer: c_int, object: impl FnOnce() -> String) {
    if let Err(error) = check(call, answer, object) {
        eprintln!("weft-verbs: {error}");
    }
}
