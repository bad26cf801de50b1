//! The memory behind the null region: as long as the longest message, all zeros for readers, and a pit for writers.

use std::sync::OnceLock;

use weft_roce::MAX_MESSAGE_BYTES;

/// Where to read zeros from, or to write what is to be forgotten.
#[cold]
pub fn address(written: bool) -> u64 {
    static ZEROS: OnceLock<u64> = OnceLock::new();
    static PIT: OnceLock<u64> = OnceLock::new();
    if written {
        *PIT.get_or_init(|| map(libc::PROT_READ | libc::PROT_WRITE))
    } else {
        *ZEROS.get_or_init(|| map(libc::PROT_READ))
    }
}

/// Addresses that cost memory only where they are written.
fn map(protection: libc::c_int) -> u64 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let bytes = MAX_MESSAGE_BYTES as usize;
    // SAFETY: asks for a fresh range of addresses.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    assert!(
        base != libc::MAP_FAILED,
        "softrdma: no addresses for the null region"
    );
    base as u64
}
