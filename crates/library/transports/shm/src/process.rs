//! What the system says of processes.

use std::io;

/// Random words from the system.
pub fn random_key() -> io::Result<[u64; 2]> {
    let mut key = [0u64; 2];
    // SAFETY: `key` is 16 writable bytes.
    let got = unsafe { libc::getrandom(key.as_mut_ptr().cast(), size_of_val(&key), 0) };
    if got == size_of_val(&key) as isize {
        Ok(key)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// When a process started, in clock ticks since boot; none if it is gone or only waits to be reaped. An error if that cannot be
/// found out: this process may have no descriptor left, for one.
pub fn start_of(pid: u32) -> io::Result<Option<u64>> {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => Ok(start_in(&stat)),
        // The second: it went while it was read.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn start_in(stat: &str) -> Option<u64> {
    // The name, in parentheses, may contain anything; after it come the state (field 3) and, as field 22,
    // the start time (proc_pid_stat(5)).
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(22 - 4)?.parse().ok()
}

/// Whether a process that can be asked after quickly is there, perhaps only waiting to be reaped.
pub fn is_there(pid: u32) -> bool {
    // SAFETY: signal 0 only asks.
    let asked = unsafe { libc::kill(pid as i32, 0) };
    asked == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// Lets any process of this user copy from and to this one's memory, where the Yama security module would
/// allow it to parents only (prctl(2), PR_SET_PTRACER). Without Yama it has no effect.
pub fn allow_copies() {
    // SAFETY: takes plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_start_is_found() {
        let me = std::process::id();
        assert!(start_of(me).unwrap().is_some_and(|start| start > 0));
        assert!(is_there(me));
        assert_eq!(start_of(me).unwrap(), start_of(me).unwrap());
    }

    #[test]
    fn no_process_has_no_start() {
        assert_eq!(start_of(u32::MAX >> 1).unwrap(), None);
        assert!(!is_there(u32::MAX >> 1));
    }

    #[test]
    fn keys_differ() {
        assert_ne!(random_key().unwrap(), random_key().unwrap());
    }
}
