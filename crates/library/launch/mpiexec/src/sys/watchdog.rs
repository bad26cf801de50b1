//! A child that outlives mpiexec by a moment when mpiexec is killed without warning.
//!
//! The kernel kills each rank with its parent (`PR_SET_PDEATHSIG`), but not what the rank has started: the program under a
//! wrapper script. The watchdog waits at a pipe that only mpiexec holds open for writing. A byte means that all is in
//! order; the end without one means that mpiexec has died, and then every process that carries this job's name in its
//! environment is killed.

use super::{Pid, check};
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Of the process, so that what is meant for mpiexec by name does not reach it.
const NAME: &CStr = c"weft-watchdog";

pub struct Watchdog {
    pid: Pid,
    lifeline: OwnedFd,
}

impl Watchdog {
    /// Starts it. Every process of the job carries the environment variable `variable`, whose value is a list of jobs, one
    /// inside the other, separated by `/`, `job` among them.
    pub fn start(variable: &str, job: &str) -> io::Result<Watchdog> {
        let mut fds = [-1; 2];
        // SAFETY: the array has room for two descriptors, which are new and ours.
        let (reader, lifeline) = unsafe {
            check(libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC))?;
            (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1]))
        };
        // SAFETY: one thread, so the child's memory is consistent and it may allocate.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop(lifeline);
            guard(reader, variable, job);
        }
        Ok(Watchdog { pid, lifeline })
    }

    /// Sends it home and waits for that.
    pub fn dismiss(self) {
        let byte = [0u8];
        // SAFETY: the byte is live; the watchdog is a child that nobody else waits for by this id, and it ends upon the
        // byte, or has been killed.
        unsafe {
            libc::write(self.lifeline.as_raw_fd(), byte.as_ptr().cast(), 1);
            let mut status = 0;
            while libc::waitpid(self.pid, &mut status, 0) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
    }
}

/// Waits for the watchdogs of processes that were killed and have left them to this one, but not for long: they end as
/// soon as they have killed what is left.
pub fn wait_for_orphans(limit: Duration) {
    let until = Instant::now() + limit;
    let is_watchdog = |pid: &Pid| {
        fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_ascii() == NAME.to_bytes())
    };
    while super::children().iter().any(is_watchdog) && Instant::now() < until {
        while let super::Reaped::Child(..) = super::reap() {}
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The watchdog's whole life.
fn guard(reader: OwnedFd, variable: &str, job: &str) -> ! {
    let fd = reader.as_raw_fd();
    // SAFETY: in a child of its own. A session of its own keeps the terminal's signals away, and a name of its own keeps
    // what is meant for mpiexec away. All descriptors but the pipe are closed, so that nobody waits for their end; nothing
    // that owns one of them is used or dropped after this.
    let read = unsafe {
        let mut byte = [0u8];
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        close_all_but(fd);
        loop {
            let read = libc::read(fd, byte.as_mut_ptr().cast(), 1);
            if read >= 0 || *libc::__errno_location() != libc::EINTR {
                break read;
            }
        }
    };
    if read == 0 {
        kill_job(variable, job);
    }
    // SAFETY: no preconditions.
    unsafe { libc::_exit(0) }
}

/// # Safety
/// Nothing that owns another descriptor may be used or dropped afterwards.
unsafe fn close_all_but(fd: RawFd) {
    let fd = fd as libc::c_uint;
    // SAFETY: plain numbers. Older kernels without this call keep the descriptors, which delays at most the end of a pipe.
    unsafe {
        if fd > 0 {
            libc::syscall(libc::SYS_close_range, 0, fd - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, fd + 1, libc::c_uint::MAX, 0);
    }
}

/// Kills every process of the job, again until there is none: one may be forking.
fn kill_job(variable: &str, job: &str) {
    for _ in 0..100 {
        let members = members(variable, job);
        if members.is_empty() {
            return;
        }
        members
            .into_iter()
            .for_each(|pid| super::kill(pid, libc::SIGKILL));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn members(variable: &str, job: &str) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &Pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|entry| names_job(entry, variable, job))
    })
    .collect()
}

fn names_job(entry: &[u8], variable: &str, job: &str) -> bool {
    let value = entry
        .strip_prefix(variable.as_bytes())
        .and_then(|rest| rest.strip_prefix(b"="));
    value.is_some_and(|value| {
        value
            .split(|&byte| byte == b'/')
            .any(|name| name == job.as_bytes())
    })
}
