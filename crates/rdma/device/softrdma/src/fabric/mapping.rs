//! Memory that processes share: memfds and what is mapped of them.
//!
//! # Rules
//! 1. A memfd is sealed against shrinking before anyone else can see it, so a byte that was once inside stays inside and
//!    an access to it cannot fault for want of file.
//! 2. A mapping covers more addresses than the file has bytes; nothing beyond the size that the kernel last stated is
//!    touched. The size is asked anew when something lies beyond the size known.
//! 3. What lies in a mapping may be written by other processes at any moment, so it is read and written through types that
//!    are [`Shared`]: made of atomics only, each bit pattern valid. Bulk data are copied by `memory`, never looked at.
//! 4. Offsets from shared memory are nonsense until [`Mapping::at`] or [`Mapping::span`] has checked them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_kernel::above_standard;

pub const PAGE: u64 = 4096;

/// Types that may lie in memory which other processes write.
///
/// # Safety
/// Made of atomic integers, and arrays and `repr(C)` structures of such, without padding that matters: valid for each bit
/// pattern, and usable through a shared reference while others write.
pub unsafe trait Shared {}

// SAFETY: atomic integers.
unsafe impl Shared for std::sync::atomic::AtomicU32 {}
// SAFETY: as above.
unsafe impl Shared for AtomicU64 {}
// SAFETY: arrays of such.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// Fails with the error of the last system call if `result` is negative.
pub fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A new memfd of `bytes`, which cost memory where they are written.
pub fn create(name: &str, bytes: u64) -> io::Result<OwnedFd> {
    let name = std::ffi::CString::new(name)?;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string.
    let create = || checked(unsafe { libc::memfd_create(name.as_ptr(), flags) });
    let fd = above_standard(create)?;
    // SAFETY: the descriptor is fresh and this process's.
    let memfd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: these take numbers only.
    unsafe {
        checked(libc::fchmod(fd, 0o600))?;
        checked(libc::ftruncate(fd, bytes as libc::off_t))?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
        checked(libc::fcntl(fd, libc::F_ADD_SEALS, seals))?;
    }
    Ok(memfd)
}

/// Whether `memfd` is what [`create`] made for this user.
pub fn trusted(memfd: BorrowedFd<'_>) -> bool {
    // SAFETY: all zeros is a valid `stat`.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is writable; the others take numbers.
    let (result, user, seals) = unsafe {
        let fd = memfd.as_raw_fd();
        (
            libc::fstat(fd, &mut stat),
            libc::geteuid(),
            libc::fcntl(fd, libc::F_GET_SEALS),
        )
    };
    result == 0 && belongs_to(&stat, user) && seals >= 0 && seals & libc::F_SEAL_SHRINK != 0
}

/// The owner's alone: another user's memfd, or one that others may write, is none to trust.
fn belongs_to(stat: &libc::stat, user: u32) -> bool {
    stat.st_uid == user && stat.st_mode & 0o077 == 0
}

/// What process `pid` has as descriptor `number`, if that is a memfd called `name`. Anything else is not opened, for closing
/// another descriptor of the fabric's file would end this process's lock (`processes`, rule 4).
pub fn open_descriptor(pid: u32, number: u32, name: &str) -> io::Result<OwnedFd> {
    let path = format!("/proc/{pid}/fd/{number}");
    let link = std::fs::read_link(&path)?;
    if link.to_str() != Some(&format!("/memfd:{name} (deleted)")) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true);
    // The number may by now be of something that an open would wait for.
    options.custom_flags(libc::O_NONBLOCK);
    let file = above_standard(|| options.open(path))?;
    Ok(file.into())
}

/// A memfd in this process's addresses.
pub struct Mapping {
    base: NonNull<u8>,
    /// Addresses.
    span: u64,
    /// Bytes of the file that are known to be there (rule 2). Only grows; any thread writes what the kernel said.
    bytes: AtomicU64,
    memfd: OwnedFd,
}

// SAFETY: an address range; what may be done with it does not depend on the thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `memfd` with room to grow to `span` bytes, or to as much as this process may have, but at least to what is there.
    pub fn new(memfd: OwnedFd, span: u64) -> io::Result<Mapping> {
        let bytes = size_of_file(memfd.as_fd())?;
        let least = bytes.max(PAGE);
        let mut span = span.max(least);
        let base = loop {
            match map(memfd.as_fd(), span) {
                Ok(base) => break base,
                // An address space limit (setrlimit(2), RLIMIT_AS), or an emulator's.
                Err(_) if span > least => span = (span / 2).next_multiple_of(PAGE).max(least),
                Err(error) => return Err(error),
            }
        };
        Ok(Mapping {
            base,
            span,
            bytes: AtomicU64::new(bytes),
            memfd,
        })
    }

    /// The address of the first byte.
    pub fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    /// As far as it can grow.
    pub fn span(&self) -> u64 {
        self.span
    }

    pub fn memfd(&self) -> BorrowedFd<'_> {
        self.memfd.as_fd()
    }

    /// Whether `length` bytes from `offset` on are there.
    #[inline]
    fn holds(&self, offset: u64, length: u64) -> bool {
        let Some(end) = offset.checked_add(length) else {
            return false;
        };
        end <= self.bytes.load(Ordering::Relaxed) || self.holds_meanwhile(end)
    }

    #[cold]
    fn holds_meanwhile(&self, end: u64) -> bool {
        let bytes = size_of_file(self.memfd()).unwrap_or(0).min(self.span);
        self.bytes.fetch_max(bytes, Ordering::Relaxed);
        end <= bytes
    }

    /// What lies at `offset`; none if the offset is nonsense.
    #[inline]
    pub fn at<T: Shared>(&self, offset: u64) -> Option<&T> {
        let fits = offset.is_multiple_of(align_of::<T>() as u64)
            && self.holds(offset, size_of::<T>() as u64);
        // SAFETY: inside the mapping and the file (rules 1 and 2), aligned, and T is usable while others write.
        fits.then(|| unsafe { &*self.base.as_ptr().add(offset as usize).cast::<T>() })
    }

    /// The address of `length` bytes of bulk data at `offset`; none if they are not all there.
    #[inline]
    pub fn address_of(&self, offset: u64, length: u64) -> Option<*mut u8> {
        // SAFETY: inside the mapping.
        self.holds(offset, length)
            .then(|| unsafe { self.base.as_ptr().add(offset as usize) })
    }

    /// Has memory behind `length` bytes from `offset` on, lengthening the file where it ends before.
    pub fn fill(&self, offset: u64, length: u64) -> io::Result<()> {
        if offset.checked_add(length).is_none_or(|end| end > self.span) {
            return Err(io::Error::from_raw_os_error(libc::ENOMEM));
        }
        let fd = self.memfd.as_raw_fd();
        // SAFETY: takes numbers only.
        match unsafe { libc::posix_fallocate(fd, offset as libc::off_t, length as libc::off_t) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Has the file go on to `end` at least. Memory comes where it is written.
    pub fn lengthen(&self, end: u64) -> io::Result<()> {
        if end > self.span {
            return Err(io::Error::from_raw_os_error(libc::ENOMEM));
        }
        while size_of_file(self.memfd())? < end {
            // SAFETY: takes numbers only.
            let result = unsafe { libc::ftruncate(self.memfd.as_raw_fd(), end as libc::off_t) };
            match checked(result) {
                // Another thread made it longer still; shrinking is sealed.
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
                result => return result.map(drop),
            }
        }
        Ok(())
    }

    /// Gives the memory behind whole pages back; they read as zeros until filled anew.
    pub fn empty(&self, offset: u64, length: u64) {
        let begin = offset.next_multiple_of(PAGE);
        let end = (offset + length) / PAGE * PAGE;
        if begin < end {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            let (at, length) = (begin as libc::off_t, (end - begin) as libc::off_t);
            // SAFETY: takes numbers only. A kernel that cannot do it keeps the memory, which is no harm.
            unsafe { libc::fallocate(self.memfd.as_raw_fd(), mode, at, length) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping's, and no reference into it outlives it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.span as usize) };
    }
}

fn map(memfd: BorrowedFd<'_>, span: u64) -> io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
    // SAFETY: asks for a fresh range of addresses.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            span as usize,
            protection,
            flags,
            memfd.as_raw_fd(),
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(|| io::Error::other("a mapping at address 0"))
}

fn size_of_file(memfd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: all zeros is a valid `stat`.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is writable.
    checked(unsafe { libc::fstat(memfd.as_raw_fd(), &mut stat) })?;
    Ok(stat.st_size as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_seen_by_the_other_side() {
        let memfd = create("softrdma-test", PAGE).unwrap();
        let theirs = Mapping::new(memfd.try_clone().unwrap(), 1 << 30).unwrap();
        let mine = Mapping::new(memfd, 1 << 30).unwrap();
        assert!(theirs.at::<AtomicU64>(PAGE).is_none());
        mine.fill(PAGE, 10 * PAGE).unwrap();
        mine.at::<AtomicU64>(5 * PAGE)
            .unwrap()
            .store(42, Ordering::Relaxed);
        let word = theirs.at::<AtomicU64>(5 * PAGE).unwrap();
        assert_eq!(word.load(Ordering::Relaxed), 42);
        mine.empty(5 * PAGE, PAGE);
        assert_eq!(word.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn nonsense_is_refused() {
        let mapping = Mapping::new(create("softrdma-test", PAGE).unwrap(), 4 * PAGE).unwrap();
        for offset in [1, 4, PAGE, PAGE - 4, u64::MAX, u64::MAX - 7, 1 << 40] {
            assert!(mapping.at::<AtomicU64>(offset).is_none(), "{offset}");
        }
        assert!(mapping.address_of(0, PAGE).is_some());
        for (offset, length) in [
            (1, PAGE),
            (u64::MAX, 1),
            (0, u64::MAX),
            (u64::MAX, u64::MAX),
        ] {
            assert!(mapping.address_of(offset, length).is_none());
        }
        assert!(mapping.fill(0, 5 * PAGE).is_err());
        assert!(mapping.lengthen(5 * PAGE).is_err());
        mapping.lengthen(3 * PAGE).unwrap();
        mapping.lengthen(2 * PAGE).unwrap();
        assert!(mapping.address_of(0, 3 * PAGE).is_some());
        assert!(mapping.address_of(0, 4 * PAGE).is_none());
    }

    #[test]
    fn only_sealed_memory_of_this_user_is_trusted() {
        assert!(trusted(create("softrdma-test", PAGE).unwrap().as_fd()));
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(!trusted(file.as_fd()));
        // SAFETY: all zeros is a valid `stat`.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        stat.st_uid = 1000;
        stat.st_mode = 0o100_600;
        assert!(belongs_to(&stat, 1000));
        assert!(!belongs_to(&stat, 1001));
        stat.st_mode = 0o100_666;
        assert!(!belongs_to(&stat, 1000));
    }
}
