//! By what others know this process: its number, when it started, and in which namespaces.

use std::io;
use std::os::unix::fs::MetadataExt;

use weft_kernel::process;

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

/// When a process started; none if it is gone, only waits to be reaped, or cannot be asked after.
pub fn start_of(pid: u32) -> Option<u64> {
    process::start_of(pid).ok().flatten()
}

/// A random number from the system, not 0.
pub fn random_key() -> io::Result<u64> {
    let [key, _] = weft_kernel::random_words()?;
    Ok(key.max(1))
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
