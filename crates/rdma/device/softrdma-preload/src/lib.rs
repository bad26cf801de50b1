//! A library to preload for programs that look for device files before they ask libibverbs (UCX does).
//!
//! UCX lists an RDMA device only when `/dev/infiniband/uverbsN` is a character device that it may read and write. The
//! software device has no such file, so here the questions are answered as for `/dev/null`, which is one that everybody may
//! read and write. All other paths are left alone; nothing is opened or made.
//!
//! The questions go to the kernel directly, so no other definition of these functions has to be found.

use std::ffi::{CStr, c_char, c_int};

const PREFIX: &[u8] = b"/dev/infiniband/uverbs";
const STAND_IN: &CStr = c"/dev/null";

/// The path to ask about.
///
/// # Safety
/// `path` is null or ends with a zero.
unsafe fn stand_in(path: *const c_char) -> *const c_char {
    if path.is_null() {
        return path;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    match bytes.strip_prefix(PREFIX) {
        Some(number) if !number.is_empty() && number.iter().all(u8::is_ascii_digit) => {
            STAND_IN.as_ptr()
        }
        _ => path,
    }
}

/// # Safety
/// As of stat(2).
unsafe fn kernel_stat(path: *const c_char, buffer: *mut libc::stat) -> c_int {
    // SAFETY: the kernel checks both pointers; its structure is the C library's on 64-bit machines.
    unsafe {
        let path = stand_in(path);
        libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path, buffer, 0) as c_int
    }
}

/// # Safety
/// As of stat(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat(path: *const c_char, buffer: *mut libc::stat) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe { kernel_stat(path, buffer) }
}

/// # Safety
/// As of stat(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat64(path: *const c_char, buffer: *mut libc::stat) -> c_int {
    // SAFETY: as above.
    unsafe { kernel_stat(path, buffer) }
}

/// What `stat` is in programs that were compiled with a C library older than 2.33.
///
/// # Safety
/// As of stat(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xstat(
    _version: c_int,
    path: *const c_char,
    buffer: *mut libc::stat,
) -> c_int {
    // SAFETY: as above; there is one version of the structure on 64-bit machines.
    unsafe { kernel_stat(path, buffer) }
}

/// See [`__xstat`].
///
/// # Safety
/// As of stat(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xstat64(
    _version: c_int,
    path: *const c_char,
    buffer: *mut libc::stat,
) -> c_int {
    // SAFETY: as above.
    unsafe { kernel_stat(path, buffer) }
}

/// # Safety
/// As of access(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the kernel checks the pointer.
    unsafe {
        let path = stand_in(path);
        libc::syscall(libc::SYS_faccessat, libc::AT_FDCWD, path, mode) as c_int
    }
}
