//! How calls answer: 0, or -1 and `errno`.

use std::ffi::c_int;
use std::io;

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub c_int);

pub type Outcome<T = ()> = Result<T, Errno>;

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Errno {
        Errno(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

impl Errno {
    pub fn last() -> Errno {
        Errno::from(io::Error::last_os_error())
    }
}

fn set(errno: Errno) {
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = errno.0 };
}

pub fn status(outcome: Outcome) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(errno) => {
            set(errno);
            -1
        }
    }
}

pub fn pointer<T>(outcome: Outcome<*mut T>) -> *mut T {
    outcome.unwrap_or_else(|errno| {
        set(errno);
        std::ptr::null_mut()
    })
}

/// Of a system call: -1 is a failure.
pub fn system(answer: c_int) -> Outcome<c_int> {
    if answer < 0 {
        Err(Errno::last())
    } else {
        Ok(answer)
    }
}

/// Of a verbs call that answers an error number, or -1 and `errno`.
pub fn verbs(answer: c_int) -> Outcome {
    match answer {
        0 => Ok(()),
        number if number < 0 => Err(Errno::last()),
        number => Err(Errno(number)),
    }
}

/// Of a verbs call that answers an object.
pub fn object<T>(object: *mut T) -> Outcome<*mut T> {
    if object.is_null() {
        Err(Errno::last())
    } else {
        Ok(object)
    }
}

pub fn require(condition: bool, number: c_int) -> Outcome {
    if condition {
        Ok(())
    } else {
        Err(Errno(number))
    }
}
