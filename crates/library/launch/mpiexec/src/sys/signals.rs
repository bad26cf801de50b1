//! Signals as a stream of events: blocked from the start, read from a descriptor.

use super::check;
use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// Reads the signals it was made for, which stay blocked in this process. One that mpiexec was started with as ignored
/// (SIGHUP by nohup) stays ignored; one that it was started with as blocked is read all the same, and others are not
/// blocked any more.
pub struct SignalReader {
    fd: OwnedFd,
}

pub struct Received {
    pub signal: i32,
    /// The terminal sent it, to the whole foreground process group.
    pub from_terminal: bool,
}

impl SignalReader {
    pub fn new(signals: &[i32]) -> io::Result<SignalReader> {
        // SAFETY: the set is live, and `sigemptyset` initialises it before use; the descriptor is new and ours. There is one
        // thread, so its mask is the process's.
        unsafe {
            // Ignored by whoever started mpiexec, it would leave no exit status to read.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            for &signal in signals {
                // The kernel keeps a blocked signal to be read even where it is ignored.
                if !is_ignored(signal)? {
                    check(libc::sigaddset(&mut set, signal))?;
                }
            }
            check(libc::sigprocmask(libc::SIG_SETMASK, &set, ptr::null_mut()))?;
            let fd = check(libc::signalfd(
                -1,
                &set,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            ))?;
            Ok(SignalReader {
                fd: OwnedFd::from_raw_fd(fd),
            })
        }
    }

    /// The next signal that has arrived.
    pub fn next(&self) -> Option<Received> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes whole structs of this size, or fails.
        unsafe {
            if libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size) != size as isize {
                return None;
            }
            let info = info.assume_init();
            Some(Received {
                signal: info.ssi_signo as i32,
                from_terminal: info.ssi_code == libc::SI_KERNEL,
            })
        }
    }
}

fn is_ignored(signal: i32) -> io::Result<bool> {
    // SAFETY: the action is live; without a new one the call only writes it.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        check(libc::sigaction(signal, ptr::null(), &mut action))?;
        Ok(action.sa_sigaction == libc::SIG_IGN)
    }
}

/// Unblocks every signal, as a fresh child does before its exec: neither this process's mask nor that of its starter is handed
/// on.
///
/// # Safety
/// Only in a process with one thread.
pub unsafe fn unblock_all() -> io::Result<()> {
    // SAFETY: the set is live, and `sigemptyset` initialises it.
    unsafe {
        let mut none: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut())).map(drop)
    }
}

impl AsRawFd for SignalReader {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Number and meaning: `11 (Segmentation fault)`.
pub fn describe(signal: i32) -> String {
    // SAFETY: `strsignal` answers a C string or null, valid until its next call; there is one thread.
    unsafe {
        let words = libc::strsignal(signal);
        match words.is_null() {
            true => signal.to_string(),
            false => format!("{signal} ({})", CStr::from_ptr(words).to_string_lossy()),
        }
    }
}
