//! How calls of the C interface answer: an error number, -1 and `errno`, or a null pointer and `errno`.

use std::ffi::c_int;
use std::fmt;

/// An error number of the system's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub c_int);

impl Errno {
    pub const EAGAIN: Errno = Errno(libc::EAGAIN);
    pub const EBUSY: Errno = Errno(libc::EBUSY);
    pub const EFAULT: Errno = Errno(libc::EFAULT);
    pub const EINVAL: Errno = Errno(libc::EINVAL);
    pub const ENODEV: Errno = Errno(libc::ENODEV);
    pub const ENOMEM: Errno = Errno(libc::ENOMEM);
    pub const ENOSPC: Errno = Errno(libc::ENOSPC);
    pub const EOPNOTSUPP: Errno = Errno(libc::EOPNOTSUPP);
    pub const EPERM: Errno = Errno(libc::EPERM);

    /// What the last system call of this thread left.
    pub fn last() -> Errno {
        Errno::from(std::io::Error::last_os_error())
    }

    /// Leaves the number in `errno`.
    pub fn set(self) {
        // SAFETY: the thread's own errno.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Errno {
        Errno(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(formatter)
    }
}

pub type Result<T = ()> = std::result::Result<T, Errno>;

/// 0, or the error number, which is left in `errno` too.
pub fn code(result: Result) -> c_int {
    match result {
        Ok(()) => 0,
        Err(errno) => {
            errno.set();
            errno.0
        }
    }
}

/// 0, or -1 and `errno`.
pub fn status(result: Result) -> c_int {
    match result {
        Ok(()) => 0,
        Err(errno) => {
            errno.set();
            -1
        }
    }
}

/// The pointer, or null and `errno`.
pub fn pointer<T>(result: Result<*mut T>) -> *mut T {
    result.unwrap_or_else(|errno| {
        errno.set();
        std::ptr::null_mut()
    })
}

/// Refuses with `errno` unless `condition`.
pub fn require(condition: bool, errno: Errno) -> Result {
    if condition { Ok(()) } else { Err(errno) }
}

/// The caller's structure may be longer or shorter than ours: gives what both have and zeros the rest.
///
/// # Safety
/// `target` is writable for `bytes`.
pub unsafe fn answer<T: Copy>(target: *mut T, bytes: usize, value: &T) {
    let common = bytes.min(size_of::<T>());
    // SAFETY: both are good for `common` bytes, and the caller's for `bytes` altogether.
    unsafe {
        std::ptr::write_bytes(target.cast::<u8>(), 0, bytes);
        let source = std::ptr::from_ref(value).cast::<u8>();
        std::ptr::copy_nonoverlapping(source, target.cast::<u8>(), common);
    }
}

/// An application's list, which is null where it is empty.
///
/// # Safety
/// `list` is readable for `count` while the result is used, unless that is 0.
#[inline]
pub unsafe fn readable<'a, T>(list: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, count) }
}
