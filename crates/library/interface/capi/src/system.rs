//! What the system knows: time and the machine's name.

use std::ffi::CStr;

/// CLOCK_MONOTONIC: seconds since some moment before the process began, the same moment for all processes of the
/// machine.
pub fn seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a timespec of ours. The call cannot fail: the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    in_seconds(time)
}

pub fn clock_resolution_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: as above.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut time) };
    in_seconds(time)
}

fn in_seconds(time: libc::timespec) -> f64 {
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The name of this machine; no name service is asked.
pub fn host_name() -> String {
    // One byte more than Linux allows (HOST_NAME_MAX is 64), so that the name is terminated.
    let mut name = [0u8; 65];
    // SAFETY: the pointer and the length are `name`'s.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}
