//! The model on what processes share: records in the process's segment, pages from the fabric's.

use std::sync::atomic::Ordering;

use super::ledger::ChunkSource;
use super::pool::PagePool;
use super::record::Chunk;
use crate::fabric::mapping::Shared;
use crate::fabric::own_segment::OwnSegment;
use crate::fabric::pages::Pages;

// SAFETY: arrays of atomic integers.
unsafe impl Shared for Chunk {}

/// Chunks in this process's segment.
pub struct SegmentChunks(pub &'static OwnSegment);

impl ChunkSource for SegmentChunks {
    fn allocate(&self) -> Option<(&'static Chunk, u64)> {
        let mapping = self.0.segment().mapping();
        let address = self.0.allocate_buffer(size_of::<Chunk>() as u64).ok()? as u64;
        let offset = address - mapping.address();
        Some((mapping.at(offset)?, offset))
    }

    /// Release: who reads the offset finds the chunk filled.
    fn publish(&self, offset: u64) {
        let header = self.0.segment().header();
        header.figures.store(offset, Ordering::Release);
    }
}

/// The pages of one device that processes may take.
pub struct DevicePages {
    pub pages: Pages<'static>,
    /// Those beyond are the reserve, or the fault injector's.
    pub limit: u32,
}

impl PagePool for DevicePages {
    fn take(&self) -> Option<u32> {
        self.pages.take(self.limit)
    }

    fn give_back(&self, page: u32) {
        self.pages.give_back(page);
    }
}
