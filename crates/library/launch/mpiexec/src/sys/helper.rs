//! Starting a program that reaches another host: ssh, srun, or an agent on this one.

use super::signals::unblock_all;
use super::{Pid, check};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// A running one, and the other ends of its standard streams.
pub struct Helper {
    pub pid: Pid,
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub error: OwnedFd,
}

/// Starts a command in a session of its own: the terminal's signals do not reach it, and it cannot ask the terminal
/// anything. It starts with no signal blocked, and is told to end when this process does. Waits for its exec; whoever reaps
/// children reaps it.
pub fn start_helper(command: &[OsString]) -> io::Result<Helper> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: between fork and exec, in a child of a process with one thread, only system calls are made.
    unsafe {
        command.pre_exec(|| {
            check(libc::setsid())?;
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0))?;
            unblock_all()
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
