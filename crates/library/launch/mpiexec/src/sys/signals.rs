//! Signals as a stream of events: blocked from the start, read from a descriptor.

use super::check;
use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Reads the signals it was made for; one that mpiexec was started with as ignored (nohup) stays so. They stay blocked in this process; ranks start with the mask as it was before.
pub struct SignalReader {
    fd: OwnedFd,
    mask_before: libc::sigset_t,
}

pub struct Received {
    pub signal: i32,
    /// The terminal sent it, to the whole foreground process group.
    pub from_terminal: bool,
}

impl SignalReader {
    pub fn new(signals: &[i32]) -> io::Result<SignalReader> {
        // SAFETY: all sets are live, and `sigemptyset` and `sigprocmask` initialise them before use; the descriptor is new
        // and ours. There is one thread, so its mask is the process's.
        unsafe {
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            for &signal in signals {
                check(libc::sigaddset(&mut set, signal))?;
            }
            // Ignored by whoever started mpiexec, it would leave no exit status to read.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let mut mask_before: libc::sigset_t = zeroed();
            check(libc::sigprocmask(libc::SIG_BLOCK, &set, &mut mask_before))?;
            let fd = check(libc::signalfd(
                -1,
                &set,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            ))?;
            Ok(SignalReader {
                fd: OwnedFd::from_raw_fd(fd),
                mask_before,
            })
        }
    }

    /// The mask before this reader, for the ranks.
    pub fn mask_before(&self) -> libc::sigset_t {
        self.mask_before
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
