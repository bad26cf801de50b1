//! By what a process is found and opened by others.
//!
//! A process opens another's segment through `/proc/PID/fd`, which the kernel allows by both sides' credentials (ptrace(2),
//! "Ptrace access mode checking") and which names a process by a number of one of the namespaces. A card says, as one number, what
//! all that is for its process; processes of which it is alike are expected to reach each other.

use std::hash::Hasher;
use std::io;

use fnv::FnvHasher;
use weft_kernel::{above_standard, process};

/// What decides of the credentials, as lines of `/proc/self/status`: user and group, and the capabilities, of which a process that
/// opens another has to have all (proc_pid_status(5), security/commoncap.c).
const CREDENTIALS: [&str; 4] = ["Uid:", "Gid:", "CapPrm:", "CapEff:"];

/// By what this process is found and opened by others; 0 if it can be by none.
pub fn own() -> u64 {
    above_standard(|| text().map_or(0, |text| digest(&text)))
}

fn text() -> Option<String> {
    // SAFETY: takes plain numbers.
    let dumpable = unsafe { libc::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0) };
    // A program that may not be read, or one that has forbidden it, is root's in /proc.
    if dumpable != 1 {
        return None;
    }
    let mut text = process::view()?;
    match std::fs::read_link("/proc/self/ns/user") {
        Ok(name) => text.push_str(name.to_str()?),
        // A kernel that has no such namespaces.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) => return None,
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    for line in status.lines() {
        if CREDENTIALS.iter().any(|name| line.starts_with(name)) {
            text.push_str(line);
        }
    }
    Some(text)
}

/// Never 0.
fn digest(text: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish() | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_view() {
        assert_ne!(own(), 0);
        assert_eq!(own(), own());
    }
}
