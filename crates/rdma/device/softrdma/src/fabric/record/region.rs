//! Memory regions and windows as they stand in their owner's segment, and the marks of those who use them (`regions`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_sync::withdrawal;

use crate::fabric::mapping::Shared;

/// Threads of one process that can copy to another at the same time.
pub const MARKS: usize = 16;

/// A line, so that threads do not disturb each other.
#[repr(C, align(64))]
pub struct Mark {
    pub(in crate::fabric) index: AtomicU32,
    /// The process that the row belongs to.
    pub(in crate::fabric) owner: AtomicU32,
}

/// The marks of one slot's process.
pub type VisitRow = [Mark; MARKS];

/// A memory region or window. Flags of `access` are `ibv_access_flags`.
#[repr(C, align(64))]
pub struct MrRecord {
    pub(in crate::fabric) key: AtomicU32,
    access: AtomicU32,
    /// Where it lies in its owner's addresses.
    address: AtomicU64,
    length: AtomicU64,
    /// The address by which peers name its first byte.
    iova: AtomicU64,
    /// Offset in the owner's segment plus one, if it lies there.
    segment_offset: AtomicU64,
    pd: AtomicU32,
    /// The one queue pair that may use it plus one (type 2 windows); 0 for any.
    qpn: AtomicU32,
    /// Low byte of the next key.
    variant: AtomicU32,
}

// SAFETY: atomic integers only.
unsafe impl Shared for Mark {}
// SAFETY: as above.
unsafe impl Shared for MrRecord {}

const _: () = assert!(size_of::<Mark>() == 64 && size_of::<MrRecord>() == 64);

/// A region's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub address: u64,
    pub length: u64,
    pub iova: u64,
    pub access: u32,
    pub pd: u32,
    /// Offset in the owner's segment, if it lies there.
    pub segment_offset: Option<u64>,
    /// The one queue pair that may use it.
    pub qpn: Option<u32>,
}

/// A piece of a process's memory that its owner lets others touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// In its owner's addresses.
    pub address: u64,
    pub length: u64,
    /// Offset in the owner's segment, if it lies there.
    pub segment_offset: Option<u64>,
}

impl Span {
    /// The `length` bytes from the `offset`th on, which are inside.
    #[inline]
    pub fn part(&self, offset: u64, length: u64) -> Span {
        Span {
            address: self.address.wrapping_add(offset),
            length,
            segment_offset: self
                .segment_offset
                .map(|segment_offset| segment_offset.wrapping_add(offset)),
        }
    }
}

/// Why a key cannot be used so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// No such key, or not of this protection domain.
    Unknown,
    /// The region does not allow it.
    Access,
    /// Not all of it lies in the region.
    Range,
}

impl Region {
    /// The piece of `length` bytes at `iova`, for a user of protection domain `pd` that needs all of `access`.
    #[inline]
    pub fn span(&self, iova: u64, length: u64, pd: u32, access: u32) -> Result<Span, KeyError> {
        if self.pd != pd {
            return Err(KeyError::Unknown);
        }
        if self.access & access != access {
            return Err(KeyError::Access);
        }
        let ahead = iova.wrapping_sub(self.iova);
        if ahead > self.length || length > self.length - ahead {
            return Err(KeyError::Range);
        }
        Ok(Span {
            address: self.address.wrapping_add(ahead),
            length,
            segment_offset: self
                .segment_offset
                .map(|segment_offset| segment_offset.wrapping_add(ahead)),
        })
    }
}

impl MrRecord {
    /// Shows `region` under `key`. Owner only, while no key stands.
    pub(in crate::fabric) fn publish(&self, key: u32, region: &Region) {
        self.access.store(region.access, Ordering::Relaxed);
        self.address.store(region.address, Ordering::Relaxed);
        self.length.store(region.length, Ordering::Relaxed);
        self.iova.store(region.iova, Ordering::Relaxed);
        let segment_offset = region
            .segment_offset
            .map_or(0, |segment_offset| segment_offset + 1);
        self.segment_offset.store(segment_offset, Ordering::Relaxed);
        self.pd.store(region.pd, Ordering::Relaxed);
        self.qpn
            .store(region.qpn.map_or(0, |qpn| qpn + 1), Ordering::Relaxed);
        self.key.store(key, Ordering::SeqCst);
    }

    /// Takes the key away; the fields may only change after [`wait_for_visitors`](super::super::regions::wait_for_visitors).
    pub(in crate::fabric) fn withdraw(&self) {
        withdrawal::withdraw(&self.key);
    }

    /// Low byte for a key that is not the last one that stood here.
    pub(in crate::fabric) fn next_variant(&self) -> u8 {
        self.variant.fetch_add(1, Ordering::Relaxed) as u8
    }

    #[inline]
    pub(in crate::fabric) fn read(&self) -> Region {
        Region {
            access: self.access.load(Ordering::Relaxed),
            address: self.address.load(Ordering::Relaxed),
            length: self.length.load(Ordering::Relaxed),
            iova: self.iova.load(Ordering::Relaxed),
            segment_offset: self.segment_offset.load(Ordering::Relaxed).checked_sub(1),
            pd: self.pd.load(Ordering::Relaxed),
            qpn: self.qpn.load(Ordering::Relaxed).checked_sub(1),
        }
    }
}
