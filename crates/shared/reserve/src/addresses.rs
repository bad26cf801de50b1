//! Addresses set aside for mappings of shared memory: where a limit of address space (`RLIMIT_AS`, as batch systems set
//! it) is reached, they are given back to the system for what a connection to another process needs, which is lost
//! otherwise.

use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::no_memory::NoMemory;

/// Two connections and a ring for each direction of both.
const ADDRESSES: usize = 8 << 20;

/// The range, or null before it is set aside and while it is given back. Whoever takes it out of here unmaps it,
/// whoever puts one in has mapped it.
static RANGE: AtomicPtr<libc::c_void> = AtomicPtr::new(null_mut());

/// Sets the addresses aside, if they are not.
pub fn set_aside() {
    if are_set_aside() {
        return;
    }
    let Ok(range) = addresses(ADDRESSES) else {
        return;
    };
    let was = RANGE.compare_exchange(null_mut(), range, Ordering::Relaxed, Ordering::Relaxed);
    if was.is_err() {
        // SAFETY: just mapped, and nobody else's.
        unsafe { libc::munmap(range, ADDRESSES) };
    }
}

#[inline]
pub(crate) fn are_set_aside() -> bool {
    !RANGE.load(Ordering::Relaxed).is_null()
}

/// Makes a mapping of so many bytes, if need be after the addresses that were set aside are given back.
pub fn with_addresses<T>(bytes: usize, map: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let first = map();
    let is_short = matches!(&first, Err(error) if error.kind() == io::ErrorKind::OutOfMemory);
    if !is_short || bytes > ADDRESSES {
        return first;
    }
    let range = RANGE.swap(null_mut(), Ordering::Relaxed);
    if !range.is_null() {
        // SAFETY: taken out, so that it is this thread's; nothing is in it.
        unsafe { libc::munmap(range, ADDRESSES) };
    }
    map()
}

/// Whether there are so many addresses for what the system maps, as a thread's stack: memory that `malloc` has in store
/// is none of that.
pub fn probe_addresses(bytes: usize) -> Result<(), NoMemory> {
    let range = addresses(bytes)?;
    // SAFETY: just mapped, and nobody else's.
    unsafe { libc::munmap(range, bytes) };
    Ok(())
}

/// A range of addresses with nothing behind them.
fn addresses(bytes: usize) -> Result<*mut libc::c_void, NoMemory> {
    let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: asks for a fresh range of addresses.
    let range = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, how, -1, 0) };
    match range == libc::MAP_FAILED {
        true => Err(NoMemory),
        false => Ok(range),
    }
}
