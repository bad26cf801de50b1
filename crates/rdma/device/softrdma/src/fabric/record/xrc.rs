//! XRC domains as they stand in the fabric's segment (`xrc`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::fabric::lock::SharedLock;
use crate::fabric::mapping::Shared;

const DOMAINS: usize = 1024;

pub(in crate::fabric) type Slots = [AtomicU64; 4];

#[repr(C, align(64))]
pub(in crate::fabric) struct Domain {
    /// Grows with each domain that stands here.
    generation: AtomicU32,
    device: AtomicU32,
    /// Device and inode of the file by which processes find it; zeros for one that cannot be found.
    file: [AtomicU64; 2],
    pub(in crate::fabric) members: Slots,
}

#[repr(C, align(64))]
pub struct DomainTable {
    pub(in crate::fabric) lock: SharedLock,
    /// Where the search for a free queue pair begins, so that numbers are not used again at once.
    pub(in crate::fabric) next_qp: AtomicU32,
    pub(in crate::fabric) domains: [Domain; DOMAINS],
}

// SAFETY: atomic integers only.
unsafe impl Shared for DomainTable {}

/// Names a domain; 0 names none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DomainId(u32);

impl DomainId {
    pub fn word(self) -> u32 {
        self.0
    }

    fn new(index: usize, generation: u32) -> DomainId {
        DomainId((generation & 0x1f_ffff | 0x20_0000) << 10 | index as u32)
    }

    pub(in crate::fabric) fn index(self) -> usize {
        self.0 as usize % DOMAINS
    }
}

pub(in crate::fabric) fn is_empty(slots: &Slots) -> bool {
    slots.iter().all(|word| word.load(Ordering::Acquire) == 0)
}

pub(in crate::fabric) fn set(slots: &Slots, slot: u8) {
    slots[usize::from(slot) / 64].fetch_or(1 << (slot % 64), Ordering::AcqRel);
}

pub(in crate::fabric) fn clear(slots: &Slots, slot: u8) {
    slots[usize::from(slot) / 64].fetch_and(!(1 << (slot % 64)), Ordering::AcqRel);
}

pub(in crate::fabric) fn contains(slots: &Slots, slot: u8) -> bool {
    slots[usize::from(slot) / 64].load(Ordering::Acquire) >> (slot % 64) & 1 == 1
}

/// Slots whose bits are set.
pub fn slots_of(slots: &[AtomicU64; 4]) -> impl Iterator<Item = u8> {
    (0..=255).filter(|&slot| contains(slots, slot))
}

impl DomainTable {
    pub(in crate::fabric) fn find(&self, device: u32, file: [u64; 2]) -> Option<DomainId> {
        self.domains.iter().enumerate().find_map(|(index, domain)| {
            let right = domain.device.load(Ordering::Relaxed) == device
                && domain.file[0].load(Ordering::Relaxed) == file[0]
                && domain.file[1].load(Ordering::Relaxed) == file[1];
            let generation = domain.generation.load(Ordering::Relaxed);
            (right && !is_empty(&domain.members)).then(|| DomainId::new(index, generation))
        })
    }

    /// A domain without members, described.
    pub(in crate::fabric) fn free_domain(&self, device: u32, file: [u64; 2]) -> Option<DomainId> {
        let free = |domain: &Domain| is_empty(&domain.members);
        let index = self.domains.iter().position(free)?;
        let domain = &self.domains[index];
        let generation = domain.generation.load(Ordering::Relaxed).wrapping_add(1);
        domain.generation.store(generation, Ordering::Relaxed);
        domain.device.store(device, Ordering::Relaxed);
        domain.file[0].store(file[0], Ordering::Relaxed);
        domain.file[1].store(file[1], Ordering::Relaxed);
        Some(DomainId::new(index, generation))
    }
}
