//! What this process asks of the system for itself.

/// Where `/proc` tells of process `pid`, which this process may be: even where its number is of another process there.
pub fn folder(pid: u32) -> String {
    match pid == std::process::id() {
        true => "/proc/self".to_owned(),
        false => format!("/proc/{pid}"),
    }
}
