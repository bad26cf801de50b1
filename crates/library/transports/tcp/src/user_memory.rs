//! The user's memory of bulk transfers, as the bytes that the kernel is to read or write.
//!
//! Unsafe code makes slices of it: what a [`Memory`] describes belongs to the library from the call that brings it until the transfer
//! has been told complete or its peer lost, and no longer is it kept here.

use weft_memory::Memory;

/// Bytes that are sent.
pub struct Source(Memory);

/// Bytes that are received.
pub struct Target(Memory);

impl Source {
    /// # Safety
    /// The memory stays valid, and is not written, as long as this value lives.
    pub unsafe fn new(memory: Memory) -> Source {
        Source(memory)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// The bytes from `offset` to `end`, if they lie together.
    pub fn stretch(&self, offset: usize, end: usize) -> Option<&[u8]> {
        assert!(offset < end && end <= self.0.bytes);
        if self.0.layout.is_some() {
            return None;
        }
        // SAFETY: within the memory, which is valid (`new`).
        Some(unsafe { std::slice::from_raw_parts(self.0.base.add(offset), end - offset) })
    }

    /// Packs the bytes from `offset` on into all of `out`.
    pub fn pack(&self, offset: usize, out: &mut [u8]) {
        assert!(offset + out.len() <= self.0.bytes);
        // SAFETY: within the memory, which is valid (`new`).
        unsafe { self.0.read(offset, out) };
    }

    pub fn copy(&self, offset: usize, end: usize) -> Vec<u8> {
        assert!(offset <= end && end <= self.0.bytes);
        let mut copy = vec![0; end - offset];
        // SAFETY: within the memory, which is valid (`new`).
        unsafe { self.0.read(offset, &mut copy) };
        copy
    }
}

impl Target {
    /// # Safety
    /// The memory stays valid, and nobody else reads or writes it, as long as this value lives.
    pub unsafe fn new(memory: Memory) -> Target {
        Target(memory)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// The place of the bytes from `offset` to `end`, if they lie together.
    pub fn place(&mut self, offset: usize, end: usize) -> Option<&mut [u8]> {
        assert!(offset <= end && end <= self.0.bytes);
        if self.0.layout.is_some() {
            return None;
        }
        // SAFETY: within the memory, which is this value's alone (`new`).
        Some(unsafe { std::slice::from_raw_parts_mut(self.0.base.add(offset), end - offset) })
    }

    /// Writes the bytes from `offset` on; what lies behind the memory's end is dropped.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let room = self.0.bytes.saturating_sub(offset);
        let bytes = &bytes[..bytes.len().min(room)];
        if !bytes.is_empty() {
            // SAFETY: within the memory, which is this value's alone (`new`).
            unsafe { self.0.write(offset, bytes) };
        }
    }
}
