//! What the kernel says of other processes.

use std::io;

use crate::standard::above_standard;

/// When a process started, in clock ticks since boot; none if it is gone or only waits to be reaped. An error if that cannot be
/// found out: this process may have no descriptor left, for one.
pub fn start_of(pid: u32) -> io::Result<Option<u64>> {
    match above_standard(|| std::fs::read_to_string(format!("/proc/{pid}/stat"))) {
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

/// Whether the process of that number that started then still runs. One that is there and of which no more can be found out does.
pub fn runs(pid: u32, start: u64) -> bool {
    let is_same = || match start_of(pid) {
        Ok(now) => now == Some(start),
        Err(_) => true,
    };
    is_there(pid) && is_same()
}

/// Lets any process of this user copy from and to this one's memory, where the Yama security module would
/// allow it to parents only (prctl(2), PR_SET_PTRACER). Without Yama it has no effect.
pub fn allow_copies() {
    // SAFETY: takes plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

/// Milliseconds of the kernel's coarse monotonic clock, which costs a few loads and moves by some milliseconds at a time.
pub fn coarse_ms() -> u64 {
    // SAFETY: all zeros is a valid `timespec`, which the call writes.
    let now = unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now);
        now
    };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// In what this process sees others: the running system, its numbers of processes and its clock. Two that say the same mean the same
/// process by a number and a start. None where `/proc` does not say, or is another view than this process's.
pub fn view() -> Option<String> {
    let own = std::fs::read_link("/proc/self").ok()?;
    if own.to_str()? != std::process::id().to_string() {
        return None;
    }
    let mut view = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    for namespace in ["pid", "time"] {
        match std::fs::read_link(format!("/proc/self/ns/{namespace}")) {
            Ok(name) => view.push_str(name.to_str()?),
            // A kernel that has no such namespaces.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    Some(view)
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
    fn who_has_ended_does_not_run() {
        let me = std::process::id();
        let start = start_of(me).unwrap().unwrap();
        assert!(runs(me, start) && !runs(me, start + 1));
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let start = start_of(child.id()).unwrap().unwrap();
        assert!(runs(child.id(), start));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!runs(child.id(), start));
    }

    #[test]
    fn the_view_stays() {
        assert_eq!(view(), view());
    }

    #[test]
    fn no_process_has_no_start() {
        assert_eq!(start_of(u32::MAX >> 1).unwrap(), None);
        assert!(!is_there(u32::MAX >> 1));
    }
}
