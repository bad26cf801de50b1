//! Descriptors 0 to 2 are the program's, also while it has closed them: what a program without standard output prints is not to
//! reach a segment or a socket of the library's.
//!
//! The kernel gives out the lowest number that is free. So what makes descriptors is called within [`above_standard`], which for
//! that time fills the free ones of the three with descriptors that can be neither read nor written (O_PATH): to the program
//! they are as closed as before (EBADF). Other people's libraries that are called within it keep off them too.

use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

const STANDARD: usize = 3;

/// How many threads are within [`above_standard`], and which of the descriptors are filled for them.
struct Filled {
    threads: u32,
    descriptors: [bool; STANDARD],
}

static FILLED: Mutex<Filled> = Mutex::new(Filled {
    threads: 0,
    descriptors: [false; STANDARD],
});

/// Calls `make`, whose descriptors are none of 0 to 2.
pub fn above_standard<R>(make: impl FnOnce() -> R) -> R {
    let _within = Within::enter();
    make()
}

struct Within;

impl Within {
    fn enter() -> Within {
        let mut filled = filled();
        filled.threads += 1;
        // The program may have closed one since another thread came here.
        for number in 0..STANDARD {
            if is_open(number as RawFd) {
                continue;
            }
            // SAFETY: the path is a C string.
            let filling = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
            match usize::try_from(filling) {
                Ok(number) if number < STANDARD => filled.descriptors[number] = true,
                // The program has opened it itself; or there is no descriptor left, as `make` will find too.
                _ => close(filling),
            }
        }
        Within
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let mut filled = filled();
        filled.threads -= 1;
        if filled.threads > 0 {
            return;
        }
        for (number, is_filled) in filled.descriptors.iter_mut().enumerate() {
            // What the program has put there meanwhile (dup2) is its own.
            if std::mem::take(is_filled) && is_path(number as RawFd) {
                close(number as RawFd);
            }
        }
    }
}

fn filled() -> MutexGuard<'static, Filled> {
    FILLED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_open(number: RawFd) -> bool {
    // SAFETY: takes numbers.
    unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
}

fn is_path(number: RawFd) -> bool {
    // SAFETY: takes numbers.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_PATH != 0
}

fn close(number: RawFd) {
    // SAFETY: the caller's own; a number below 0 is nobody's, and refused.
    unsafe { libc::close(number) };
}
