//! The user's memory of bulk transfers, accesses and exposures: registered for the adapter where that can be, else packed and unpacked.
//!
//! Unsafe code makes regions and slices of it: what a [`Memory`] describes belongs to the library from the call that brings it until the
//! transfer has been told complete or its peer lost, or, exposed, until the exposure is dropped, and no longer is it, or a region over it, kept here. A queue pair on which
//! requests may name a region is destroyed before the region.

use weft_memory::Memory;
use weft_verbs::abi::{IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE};
use weft_verbs::{Buffer, MemoryRegion, ProtectionDomain};

/// Bytes that are sent.
pub struct Source(Memory);

/// Bytes that are received.
pub struct Target(Memory);

impl Source {
    /// # Safety
    /// The memory stays valid, and is not written, as long as this value and regions of it live.
    pub unsafe fn new(memory: Memory) -> Source {
        Source(memory)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// A region that the peer may read, if the bytes lie together and the adapter takes them.
    pub fn register(&self, domain: &ProtectionDomain) -> Option<MemoryRegion> {
        if self.0.layout.is_some() || self.0.bytes == 0 {
            return None;
        }
        // SAFETY: valid as long as regions of it live (`new`), and made to be read alone.
        let buffer = unsafe { Buffer::lent(self.0.base, self.0.bytes) };
        MemoryRegion::new(domain, &buffer, IBV_ACCESS_REMOTE_READ).ok()
    }

    /// A region that this process's adapter may read, and nobody else.
    pub fn register_to_write(&self, domain: &ProtectionDomain) -> Option<MemoryRegion> {
        if self.0.layout.is_some() || self.0.bytes == 0 {
            return None;
        }
        // SAFETY: valid as long as regions of it live (`new`), and made to be read alone.
        let buffer = unsafe { Buffer::lent(self.0.base, self.0.bytes) };
        MemoryRegion::new(domain, &buffer, 0).ok()
    }

    /// Packs the bytes from `offset` on into all of `out`.
    pub fn pack(&self, offset: usize, out: &mut [u8]) {
        assert!(offset + out.len() <= self.0.bytes);
        // SAFETY: within the memory, which is valid (`new`).
        unsafe { self.0.read(offset, out) };
    }
}

impl Target {
    /// # Safety
    /// The memory stays valid, and nobody else reads or writes it, as long as this value and regions of it live.
    pub unsafe fn new(memory: Memory) -> Target {
        Target(memory)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// A region that the adapter may write, if the bytes lie together and it takes them.
    pub fn register(&self, domain: &ProtectionDomain) -> Option<MemoryRegion> {
        if self.0.layout.is_some() || self.0.bytes == 0 {
            return None;
        }
        // SAFETY: valid, and this value's alone, as long as regions of it live (`new`).
        let buffer = unsafe { Buffer::lent(self.0.base, self.0.bytes) };
        MemoryRegion::new(domain, &buffer, IBV_ACCESS_LOCAL_WRITE).ok()
    }

    /// Writes the bytes from `offset` on.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.0.bytes);
        if !bytes.is_empty() {
            // SAFETY: within the memory, which is this value's alone (`new`).
            unsafe { self.0.write(offset, bytes) };
        }
    }
}

/// A region that peers may read and write, if the bytes lie together and the adapter takes them.
///
/// # Safety
/// The memory stays valid as long as the region lives, and what this process reads and writes there meanwhile is ordered with
/// peers' accesses by what the program asks of both.
pub unsafe fn expose(memory: &Memory, domain: &ProtectionDomain) -> Option<MemoryRegion> {
    if memory.layout.is_some() || memory.bytes == 0 {
        return None;
    }
    // SAFETY: by this function's contract.
    let buffer = unsafe { Buffer::lent(memory.base, memory.bytes) };
    let access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    MemoryRegion::new(domain, &buffer, access).ok()
}
