//! What is wrong with a command line.

use std::fmt;

/// mpiexec ends with this after a wrong command line.
pub const USAGE_EXIT_CODE: u8 = 2;

/// One line: what is wrong with the command line and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub fn usage<T>(text: impl Into<String>) -> Result<T, Usage> {
    Err(Usage(text.into()))
}
