//! A thread's buffer.

use weft_verbs::{MemoryRegion, Part, Remote};

/// Buffers that are each on lines of their own begin so far apart: two lines, as processors fetch them in pairs.
pub(crate) const APART_BYTES: usize = 128;

/// One thread's part of a region.
#[derive(Clone)]
pub struct Slot {
    region: MemoryRegion,
    offset: usize,
    bytes: usize,
}

impl Slot {
    pub(crate) fn new(region: &MemoryRegion, offset: usize, bytes: usize) -> Slot {
        Slot {
            region: region.clone(),
            offset,
            bytes,
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn region(&self) -> &MemoryRegion {
        &self.region
    }

    /// As peers name it.
    pub fn remote(&self) -> Remote {
        self.region.remote().at(self.offset as u64)
    }

    /// `bytes` bytes from `offset` on, as a work request names them.
    ///
    /// # Panics
    /// If they reach beyond its end; likewise below.
    pub fn part(&self, offset: usize, bytes: usize) -> Part<'_> {
        self.require(offset, bytes);
        self.region.part(self.offset + offset, bytes)
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        self.require(offset, bytes.len());
        self.region.write(self.offset + offset, bytes);
    }

    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        self.require(offset, bytes.len());
        self.region.read(self.offset + offset, bytes);
    }

    /// As [`weft_verbs::Buffer::word`].
    pub fn word(&self, offset: usize) -> u64 {
        self.require(offset, 8);
        self.region.word(self.offset + offset)
    }

    fn require(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "{bytes} bytes at {offset} of a slot of {}",
            self.bytes
        );
    }
}
