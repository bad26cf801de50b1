//! The limit of the sizes of files (RLIMIT_FSIZE, `ulimit -f`). The kernel holds a memfd to it, too, and sends SIGXFSZ to a process that
//! lengthens one beyond it. The limit is meant for the program's files: for the time of such a call the library lifts it, as far as an
//! unprivileged process may, so that shared memory does not depend on it.
//!
//! It is the whole process's. Meanwhile a write of another thread's is not held to it, and what another thread sets is lost; callers
//! hold the segment's section, so that no two of them lift it at once.

use std::io;

/// The limit as it was, which comes back when this goes.
pub struct Lifted(Option<libc::rlimit>);

impl Lifted {
    /// Lets this process lengthen a file to `bytes`, or says why it cannot.
    pub fn to(bytes: u64) -> io::Result<Lifted> {
        let before = current()?;
        if bytes <= before.rlim_cur {
            return Ok(Lifted(None));
        }
        if bytes > before.rlim_max {
            let limit = before.rlim_max;
            let what = format!(
                "a limit of {limit} bytes on files (RLIMIT_FSIZE, ulimit -f) keeps it from {bytes} bytes"
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        set(&libc::rlimit {
            rlim_cur: before.rlim_max,
            rlim_max: before.rlim_max,
        })?;
        Ok(Lifted(Some(before)))
    }
}

impl Drop for Lifted {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A process may always lower what it may have.
            let _ = set(before);
        }
    }
}

fn current() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is valid for a write.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } {
        0 => Ok(limit),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set(limit: &libc::rlimit) -> io::Result<()> {
    // SAFETY: the structure is valid for a read.
    match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
