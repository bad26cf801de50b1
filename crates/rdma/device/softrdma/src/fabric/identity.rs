//! By what others know this process: its number, when it started, and in which namespaces.

use std::io;
use std::os::unix::fs::MetadataExt;

/// What tells a process from others on its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub pid: u32,
    /// In clock ticks since boot.
    pub start: u64,
    /// Inode of the PID namespace; process numbers of another one mean nothing here.
    pub pid_namespace: u64,
    /// Device and inode of the network namespace. What shares one is one host.
    pub host: [u64; 2],
    pub user: u32,
}

impl Identity {
    pub fn of_process() -> io::Result<Identity> {
        let pid = std::process::id();
        let start = start_of(pid).ok_or_else(|| {
            io::Error::other("/proc is not there, by which processes find each other's memory")
        })?;
        let network = std::fs::metadata("/proc/self/ns/net")?;
        // SAFETY: takes nothing.
        let user = unsafe { libc::geteuid() };
        Ok(Identity {
            pid,
            start,
            pid_namespace: std::fs::metadata("/proc/self/ns/pid")?.ino(),
            host: [network.dev(), network.ino()],
            user,
        })
    }
}

/// When a process started; none if it is gone or only waits to be reaped.
pub fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything; after it come the state (field 3) and, as field 22,
    // the start time (proc_pid_stat(5)).
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(22 - 4)?.parse().ok()
}

/// A random number from the system, not 0.
pub fn random_key() -> io::Result<u64> {
    let mut key = [0u8; 8];
    // SAFETY: `key` is 8 writable bytes.
    let got = unsafe { libc::getrandom(key.as_mut_ptr().cast(), key.len(), 0) };
    if got == key.len() as isize {
        Ok(u64::from_ne_bytes(key).max(1))
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Lets any process of this user copy from and to this one's memory, where the Yama security module would allow it to
/// parents only (prctl(2), PR_SET_PTRACER). Without Yama it has no effect.
pub fn allow_copies() {
    // SAFETY: takes plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_start_is_found() {
        let me = Identity::of_process().unwrap();
        assert!(me.start > 0);
        assert_eq!(start_of(me.pid), Some(me.start));
        assert_eq!(start_of(u32::MAX >> 1), None);
        assert_ne!(random_key().unwrap(), random_key().unwrap());
    }
}
