//! Why a resource was refused, in the words of errno.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A variable of the environment, or an argument, that cannot be used. The text names it.
    Invalid(String),
    /// More was asked for than an adapter has, or than it has left. The text says of what.
    Exhausted(String),
    /// Something still stands on it.
    Busy(&'static str),
}

impl Error {
    /// The errno that the verbs call answers.
    pub fn errno(&self) -> i32 {
        match self {
            Error::Invalid(_) => libc::EINVAL,
            Error::Exhausted(_) => libc::ENOMEM,
            Error::Busy(_) => libc::EBUSY,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(text) | Error::Exhausted(text) => f.write_str(text),
            Error::Busy(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
