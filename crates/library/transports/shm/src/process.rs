//! What this process asks of the system for itself.

use std::io;

/// Random words from the system.
pub fn random_key() -> io::Result<[u64; 2]> {
    let mut key = [0u64; 2];
    // SAFETY: `key` is 16 writable bytes.
    let got = unsafe { libc::getrandom(key.as_mut_ptr().cast(), size_of_val(&key), 0) };
    if got == size_of_val(&key) as isize {
        Ok(key)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Where `/proc` tells of process `pid`, which this process may be: even where its number is of another process there.
pub fn folder(pid: u32) -> String {
    match pid == std::process::id() {
        true => "/proc/self".to_owned(),
        false => format!("/proc/{pid}"),
    }
}

/// Lets any process of this user copy from and to this one's memory, where the Yama security module would
/// allow it to parents only (prctl(2), PR_SET_PTRACER). Without Yama it has no effect.
pub fn allow_copies() {
    // SAFETY: takes plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ() {
        assert_ne!(random_key().unwrap(), random_key().unwrap());
    }
}
