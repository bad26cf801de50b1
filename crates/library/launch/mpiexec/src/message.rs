//! What mpiexec itself says, on standard error.

use std::io::Write;

/// Prints the lines in one write, so that ranks that print at the same time do not break them up. A standard error that
/// nobody reads is no reason to fail.
pub fn say(lines: &str) {
    let _ = std::io::stderr().write_all(format!("{lines}\n").as_bytes());
}
