//! Processes: signalling, reaping, affinity, limits.

use super::check;
use super::errors::descriptor_limit;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

pub type Pid = libc::pid_t;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Code(i32),
    Signal(i32),
}

pub enum Reaped {
    Child(Pid, Ended),
    /// There are children, and none has ended.
    NoneEnded,
    NoChildren,
}

/// Takes the exit status of one ended child, if any; never waits.
pub fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: the status is live for the call.
    match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
        0 => Reaped::NoneEnded,
        pid if pid > 0 && libc::WIFSIGNALED(status) => {
            Reaped::Child(pid, Ended::Signal(libc::WTERMSIG(status)))
        }
        pid if pid > 0 => Reaped::Child(pid, Ended::Code(libc::WEXITSTATUS(status))),
        _ => Reaped::NoChildren,
    }
}

/// A process that has ended meanwhile is no error.
pub fn kill(pid: Pid, signal: i32) {
    // SAFETY: no pointers.
    unsafe {
        libc::kill(pid, signal);
    }
}

/// Signals every process of a group.
pub fn kill_group(group: Pid, signal: i32) {
    // SAFETY: no pointers.
    unsafe {
        libc::killpg(group, signal);
    }
}

/// Stops this process as the terminal would; returns when it is continued.
pub fn stop_self() {
    // SAFETY: no pointers.
    unsafe {
        libc::raise(libc::SIGSTOP);
    }
}

/// Descendants whose parent has ended become children of this process, so that none escapes.
pub fn adopt_orphans() -> io::Result<()> {
    // SAFETY: this option takes plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// A descriptor that becomes readable when the process ends.
pub fn open_pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; the descriptor is new and ours.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        Ok(OwnedFd::from_raw_fd(check(fd as libc::c_int)?))
    }
}

/// Whether the process has begun to end, or has ended. The kernel closes its files, which others may notice, well before
/// its parent is told.
pub fn is_ending(pid: Pid) -> bool {
    /// `PF_EXITING` of the flags in `/proc/PID/stat`.
    const EXITING: u64 = 4;
    let flags = stat_field(pid, 6).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_none_or(|flags| flags & EXITING != 0)
}

/// A field of `/proc/PID/stat`, counted from the state, which is 0.
fn stat_field(pid: Pid, index: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may itself hold spaces and parentheses; the state follows the last.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(index).map(str::to_owned)
}

/// The children of this process, ended ones included.
pub fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &Pid| stat_field(*pid, 1).as_ref() == Some(&own))
        .collect()
}

/// Whether the process has a handler for the signal: without one, most signals would end it.
pub fn catches(pid: Pid, signal: i32) -> bool {
    signal_set(pid, "SigCgt:") >> (signal - 1) & 1 == 1
}

fn signal_set(pid: Pid, label: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix(label));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or(0)
}

/// Whether epoll refused a descriptor because it never has to wait for it: a regular file, or `/dev/null`.
pub fn is_always_ready(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EPERM)
}

/// Reads and writes fail instead of waiting, for everyone who shares this open file.
pub fn set_nonblocking(fd: &impl AsRawFd) -> io::Result<()> {
    let fd = fd.as_raw_fd();
    // SAFETY: plain numbers on an open descriptor.
    unsafe {
        let flags = check(libc::fcntl(fd, libc::F_GETFL))?;
        check(libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)).map(drop)
    }
}

/// Closes a descriptor, and says what its file system has against that.
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is open and nobody else's; it is gone afterwards whatever the answer.
    check(unsafe { libc::close(fd.into_raw_fd()) }).map(drop)
}

/// The CPUs this process may run on, ascending.
pub fn affinity() -> Vec<u32> {
    // SAFETY: an all-zero `cpu_set_t` is a valid value; its size is passed, and CPU numbers below it are read.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of_val(&set), &mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as u32)
            .filter(|&cpu| libc::CPU_ISSET(cpu as usize, &set))
            .collect()
    }
}

/// Makes room for `count` descriptors where the hard limit allows. Answers the limits to give back to the ranks, if they
/// were changed.
pub fn with_more_descriptors(count: u64) -> io::Result<Option<libc::rlimit>> {
    let limit = descriptor_limit()?;
    if limit.rlim_cur >= count {
        return Ok(None);
    }
    let raised = libc::rlimit {
        rlim_cur: count.min(limit.rlim_max),
        rlim_max: limit.rlim_max,
    };
    // SAFETY: the struct is live for the call.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) })?;
    Ok(Some(limit))
}
