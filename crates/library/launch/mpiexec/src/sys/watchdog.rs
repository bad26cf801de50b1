//! A child that outlives mpiexec by a moment when mpiexec is killed without warning.
//!
//! The kernel kills each rank with its parent (`PR_SET_PDEATHSIG`), but not what the rank has started: the program under a
//! wrapper script. The watchdog waits at a pipe that only mpiexec holds open for writing. The byte [`OVER`] means that all is in
//! order; the end without it means that mpiexec has died, and then every process that carries this job's name in its
//! environment is killed.
//!
//! An agent may also be stopped, or hang on a disk that is gone, and then it cannot see that mpiexec has given its host up.
//! So it says [`ALIVE`] now and then, and one that is silent for its time is killed with its ranks.

use super::{Pid, check};
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use weft_kernel::{Interest, is_ready};

/// Of the process, so that what is meant for mpiexec by name does not reach it.
const NAME: &CStr = c"weft-watchdog";

/// What is said on the pipe.
const OVER: u8 = 0;
const ALIVE: u8 = 1;
/// The watchdog counts silence in turns of this time. Where the whole machine has been stopped, that is one turn.
const TURN: Duration = Duration::from_secs(1);

pub struct Watchdog {
    pid: Pid,
    lifeline: OwnedFd,
}

/// Whom a watchdog watches.
struct Watched {
    reader: OwnedFd,
    pid: Pid,
    /// After how many turns of silence it is killed; never where it promises no sign of life.
    turns: Option<u64>,
}

impl Watchdog {
    /// Starts it. Every process of the job carries the environment variable `variable`, whose value is a list of jobs, one
    /// inside the other, separated by `/`, `job` among them. With a `silence`, the caller is to call [`Watchdog::beat`] more often
    /// than that.
    pub fn start(variable: &str, job: &str, silence: Option<Duration>) -> io::Result<Watchdog> {
        let mut fds = [-1; 2];
        // SAFETY: the array has room for two descriptors, which are new and ours.
        let (reader, lifeline) = unsafe {
            check(libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC))?;
            (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1]))
        };
        let caller = std::process::id() as Pid;
        // SAFETY: one thread, so the child's memory is consistent and it may allocate.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop(lifeline);
            let watched = Watched {
                reader,
                pid: caller,
                turns: silence.map(|time| time.div_duration_f64(TURN).ceil() as u64 + 1),
            };
            guard(&watched, variable, job);
        }
        super::set_nonblocking(&lifeline)?;
        Ok(Watchdog { pid, lifeline })
    }

    /// Says that the caller is alive.
    pub fn beat(&self) {
        self.say(ALIVE);
    }

    /// A pipe that is full says enough.
    fn say(&self, byte: u8) {
        // SAFETY: the byte is live.
        unsafe { libc::write(self.lifeline.as_raw_fd(), (&raw const byte).cast(), 1) };
    }

    /// Sends it home and waits for that.
    pub fn dismiss(self) {
        self.say(OVER);
        // SAFETY: the watchdog is a child that nobody else waits for by this id, and it ends upon the byte, or has been killed.
        unsafe {
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
fn guard(watched: &Watched, variable: &str, job: &str) -> ! {
    // SAFETY: in a child of its own. A session of its own keeps the terminal's signals away, and a name of its own keeps
    // what is meant for mpiexec away. All descriptors but the pipe are closed, so that nobody waits for their end; nothing
    // that owns one of them is used or dropped after this.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        close_all_but(watched.reader.as_raw_fd());
    }
    match watched.wait_for_the_end() {
        End::Good => {}
        End::Death => kill_job(variable, job),
        End::Silence => {
            super::kill(watched.pid, libc::SIGKILL);
            kill_job(variable, job);
        }
    }
    // SAFETY: no preconditions.
    unsafe { libc::_exit(0) }
}

enum End {
    Good,
    Death,
    Silence,
}

impl Watched {
    fn wait_for_the_end(&self) -> End {
        let mut silent_turns = 0;
        while self.turns.is_none_or(|turns| silent_turns < turns) {
            match self.hear() {
                None => silent_turns += 1,
                Some(Ok(ALIVE)) => silent_turns = 0,
                Some(Ok(_)) => return End::Good,
                Some(Err(Closed)) => return End::Death,
            }
        }
        End::Silence
    }

    /// What is said next; `None` where that is nothing for a turn.
    fn hear(&self) -> Option<Result<u8, Closed>> {
        let turn_ms = self.turns.map_or(-1, |_| TURN.as_millis() as i32);
        if !is_ready(&self.reader, Interest::Reading, turn_ms) {
            return None;
        }
        let mut byte = [0];
        // SAFETY: the byte is live.
        match unsafe { libc::read(self.reader.as_raw_fd(), byte.as_mut_ptr().cast(), 1) } {
            0 => Some(Err(Closed)),
            1.. => Some(Ok(byte[0])),
            _ => None,
        }
    }
}

/// Nobody is left who could say anything.
struct Closed;

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
