//! The error of a call for which there is no memory.

/// The system has no memory for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl std::fmt::Display for NoMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the system has no memory for it")
    }
}

impl std::error::Error for NoMemory {}
