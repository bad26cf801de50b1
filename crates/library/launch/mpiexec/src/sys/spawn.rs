//! Starting a rank: fork and exec, without waiting for the exec.
//!
//! `std::process::Command` waits for each child's exec, one after the other; here all ranks load at once. What goes wrong in
//! a child before its exec comes back over one pipe that all children share and exec closes: a record of fixed size, written
//! whole.
//!
//! mpiexec has one thread, so a child may do what the parent could; it still only makes system calls on what was prepared
//! before the fork.

use super::signals::unblock_all;
use super::{Pid, check};
use std::ffi::{CString, c_char};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// All that a rank starts with.
pub struct Launch<'a> {
    pub program: &'a CString,
    pub arguments: &'a [CString],
    pub environment: Vec<&'a CString>,
    pub directory: Option<&'a CString>,
    /// Standard input, output and error; `None` keeps mpiexec's.
    pub streams: [Option<RawFd>; 3],
    /// Keeps its number in the rank.
    pub socket: RawFd,
    /// A process group of its own, or mpiexec's.
    pub own_group: bool,
    /// CPUs to run on; `None` keeps mpiexec's.
    pub cpus: Option<&'a [u32]>,
}

pub struct Spawner {
    descriptor_limit: Option<libc::rlimit>,
    parent: Pid,
    report_reader: OwnedFd,
    report_writer: OwnedFd,
}

/// What a child could not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartStep {
    Prepare,
    Directory,
    Execute,
}

pub struct StartFailure {
    pub pid: Pid,
    pub step: StartStep,
    pub error: io::Error,
}

/// The record a child writes: process id, step, `errno`.
type Record = [i32; 3];

impl Spawner {
    /// Ranks start with no signal blocked and, if given, this limit of descriptors.
    pub fn new(descriptor_limit: Option<libc::rlimit>) -> io::Result<Spawner> {
        let mut fds = [-1; 2];
        // SAFETY: the array has room for two descriptors, which are new and ours.
        unsafe {
            check(libc::pipe2(
                fds.as_mut_ptr(),
                libc::O_CLOEXEC | libc::O_NONBLOCK,
            ))?;
            Ok(Spawner {
                descriptor_limit,
                parent: libc::getpid(),
                report_reader: OwnedFd::from_raw_fd(fds[0]),
                report_writer: OwnedFd::from_raw_fd(fds[1]),
            })
        }
    }

    /// Starts a rank. Call from the thread that lives as long as mpiexec: a rank is killed when that thread ends.
    pub fn spawn(&self, launch: &Launch) -> io::Result<Pid> {
        let arguments = pointers(launch.arguments.iter());
        let environment = pointers(launch.environment.iter().copied());
        let shell = c"/bin/sh";
        // What execvp(3) does with a file that has neither a known format nor `#!`.
        let mut shell_arguments = vec![shell.as_ptr(), launch.program.as_ptr()];
        shell_arguments.extend(&arguments[1..]);
        let cpus = launch.cpus.map(cpu_set);
        // SAFETY: one thread, so the child's memory is consistent; it runs only `become_rank` and ends.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            // SAFETY: in the child; all pointers are to memory that the fork copied.
            unsafe {
                let step = self.become_rank(launch, cpus.as_ref());
                if step == StartStep::Execute {
                    libc::execve(
                        launch.program.as_ptr(),
                        arguments.as_ptr(),
                        environment.as_ptr(),
                    );
                    if *libc::__errno_location() == libc::ENOEXEC {
                        libc::execve(
                            shell.as_ptr(),
                            shell_arguments.as_ptr(),
                            environment.as_ptr(),
                        );
                    }
                }
                self.report_and_exit(step)
            }
        }
        if launch.own_group {
            // Both sides set it, so that it holds whichever runs first; after the exec the child has done so.
            // SAFETY: no pointers.
            unsafe {
                libc::setpgid(pid, pid);
            }
        }
        Ok(pid)
    }

    /// Turns the fresh child into the rank, up to the exec. Answers the step that failed, or `Execute` when that is next.
    ///
    /// # Safety
    /// Only in a fresh child of a process with one thread.
    unsafe fn become_rank(&self, launch: &Launch, cpus: Option<&libc::cpu_set_t>) -> StartStep {
        // SAFETY: system calls on numbers and on structs that live in `self` and `launch`.
        unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) != 0 {
                return StartStep::Prepare;
            }
            if libc::getppid() != self.parent {
                // mpiexec ended before the call above could arm.
                libc::_exit(1);
            }
            if launch.own_group && libc::setpgid(0, 0) != 0 {
                return StartStep::Prepare;
            }
            for (number, stream) in launch.streams.iter().enumerate() {
                if stream.is_some_and(|fd| libc::dup2(fd, number as RawFd) < 0) {
                    return StartStep::Prepare;
                }
            }
            if libc::fcntl(launch.socket, libc::F_SETFD, 0) != 0 {
                return StartStep::Prepare;
            }
            if cpus.is_some_and(|set| libc::sched_setaffinity(0, size_of_val(set), set) != 0) {
                return StartStep::Prepare;
            }
            if self
                .descriptor_limit
                .is_some_and(|limit| libc::setrlimit(libc::RLIMIT_NOFILE, &limit) != 0)
            {
                return StartStep::Prepare;
            }
            if launch
                .directory
                .is_some_and(|directory| libc::chdir(directory.as_ptr()) != 0)
            {
                return StartStep::Directory;
            }
            // The Rust runtime ignores SIGPIPE, which an exec would hand on.
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            match unblock_all() {
                Ok(()) => StartStep::Execute,
                Err(_) => StartStep::Prepare,
            }
        }
    }

    /// # Safety
    /// Only in a child, which ends here, right after the call that failed.
    unsafe fn report_and_exit(&self, step: StartStep) -> ! {
        // SAFETY: the record is live and shorter than PIPE_BUF, so it is written whole or not at all.
        unsafe {
            let record: Record = [libc::getpid(), step as i32, *libc::__errno_location()];
            libc::write(
                self.report_writer.as_raw_fd(),
                record.as_ptr().cast(),
                size_of::<Record>(),
            );
            libc::_exit(127)
        }
    }

    /// The next report of a rank that could not be started.
    pub fn next_failure(&self) -> Option<StartFailure> {
        let mut record: Record = [0; 3];
        // SAFETY: the record is live; children write whole records.
        let count = unsafe {
            libc::read(
                self.report_reader.as_raw_fd(),
                record.as_mut_ptr().cast(),
                size_of::<Record>(),
            )
        };
        let step = [StartStep::Prepare, StartStep::Directory, StartStep::Execute]
            .into_iter()
            .find(|step| *step as i32 == record[1])?;
        (count == size_of::<Record>() as isize).then(|| StartFailure {
            pid: record[0],
            step,
            error: io::Error::from_raw_os_error(record[2]),
        })
    }
}

/// A null-terminated array; it lives no longer than the strings.
fn pointers<'a>(strings: impl Iterator<Item = &'a CString>) -> Vec<*const c_char> {
    strings
        .map(|string| string.as_ptr())
        .chain([ptr::null()])
        .collect()
}

fn cpu_set(cpus: &[u32]) -> libc::cpu_set_t {
    // SAFETY: an all-zero `cpu_set_t` is a valid value, and `CPU_SET` checks the number.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        for &cpu in cpus {
            libc::CPU_SET(cpu as usize, &mut set);
        }
        set
    }
}
