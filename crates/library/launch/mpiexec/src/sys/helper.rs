//! Starting a program that reaches another host: ssh, srun, or an agent on this one.

use super::{Pid, check};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::ptr;

/// A running one, and the other ends of its standard streams.
pub struct Helper {
    pub pid: Pid,
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub error: OwnedFd,
}

/// Starts a command in a session of its own: the terminal's signals do not reach it, and it cannot ask the terminal
/// anything. It starts with this signal mask, and is told to end when this process does. Waits for its exec; whoever reaps
/// children reaps it.
pub fn start_helper(command: &[OsString], mask: libc::sigset_t) -> io::Result<Helper> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: between fork and exec, only system calls are made, on numbers and on a mask that lives in the closure.
    unsafe {
        command.pre_exec(move || {
            check(libc::setsid())?;
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0))?;
            check(libc::sigprocmask(libc::SIG_SETMASK, &mask, ptr::null_mut())).map(drop)
        });
    }
    let mut child = command.spawn()?;
    let pid = child.id() as Pid;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    match streams {
        (Some(input), Some(output), Some(error)) => Ok(Helper {
            pid,
            input: input.into(),
            output: output.into(),
            error: error.into(),
        }),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}
