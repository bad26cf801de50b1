//! What system calls answer when they fail.

use std::io;

/// The result of a system call that answers -1 on failure.
pub fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(explained(io::Error::last_os_error()))
    } else {
        Ok(result)
    }
}

/// An error as it is told: one about descriptors says how many there may be, and what raises that.
pub fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EMFILE) => io::Error::other(format!(
            "a process may have {} files open here, and mpiexec needs more (raise `ulimit -n`)",
            descriptor_limit().map_or(0, |limit| limit.rlim_cur)
        )),
        Some(libc::ENFILE) => io::Error::other(
            "this host has as many files open as it may (raise `sysctl fs.file-max`)",
        ),
        _ => error,
    }
}

/// How many descriptors this process may have.
pub fn descriptor_limit() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is live for the call.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    Ok(limit)
}
