//! What only mpiexec itself sees to, and no agent.

use std::path::Path;
use std::time::Duration;

pub struct Own<'a> {
    pub timeout: Option<Duration>,
    pub output_directory: Option<&'a Path>,
}
