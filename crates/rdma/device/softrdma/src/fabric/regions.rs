//! Memory regions and windows: a table in the segment of their owner, in which peers look keys up.
//!
//! A key is `index << 8 | generation`; index 0 is not used, so a key is never 0.
//!
//! # Protocol
//! 1. The owner writes a record's fields, then its `key` (SeqCst). While `key` stands the fields stand.
//! 2. A peer that wants to use a region first leaves a *mark* with the index in its own row of the owner's segment, then
//!    loads `key` (both SeqCst); if it is the right one, the region stays until the mark is gone. The owner that takes a
//!    region back stores 0 to `key`, then waits until no row has a mark with its index (both SeqCst). So either the peer sees
//!    that the key is gone or the owner sees the mark: after `ibv_dereg_mr` nobody touches the memory.
//! 3. A row belongs to a slot's process. It sets its bit in `visitors` before its first mark. A mark is claimed by a
//!    compare-exchange from 0, so the threads of a process share the row; there are more marks than threads that copy at
//!    the same time to the same process, else they wait for each other.
//! 4. Marks of the dead stay. The owner asks whether who left one lives; a process that finds its row used by an earlier
//!    one of its slot clears it.
//! 5. Each mark has a line of its own, so leaving one moves no line between cores unless the owner takes a region back.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::lock::Busy;
use super::mapping::Shared;
use super::numbers::Owner;
use super::processes::Processes;
use super::segment::Segment;

/// Threads of one process that can copy to another at the same time.
pub const MARKS: usize = 16;

/// A line, so that threads do not disturb each other.
#[repr(C, align(64))]
pub struct Mark {
    index: AtomicU32,
    /// Whose row it is.
    owner: AtomicU32,
}

/// The marks of one slot's process.
pub type VisitRow = [Mark; MARKS];

/// A memory region or window. Flags of `access` are `ibv_access_flags`.
#[repr(C, align(64))]
pub struct MrRecord {
    key: AtomicU32,
    access: AtomicU32,
    /// Where it lies in its owner's addresses.
    address: AtomicU64,
    length: AtomicU64,
    /// The address by which peers name its first byte.
    iova: AtomicU64,
    /// Offset in the owner's segment plus one, if it lies there.
    place: AtomicU64,
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
    pub place: Option<u64>,
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
    pub place: Option<u64>,
}

impl Span {
    /// The `length` bytes from the `offset`th on, which are inside.
    #[inline]
    pub fn part(&self, offset: u64, length: u64) -> Span {
        Span {
            address: self.address.wrapping_add(offset),
            length,
            place: self.place.map(|place| place.wrapping_add(offset)),
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
            place: self.place.map(|place| place.wrapping_add(ahead)),
        })
    }
}

impl MrRecord {
    /// Shows `region` under `key`. Owner only, while no key stands.
    pub(super) fn publish(&self, key: u32, region: &Region) {
        self.access.store(region.access, Ordering::Relaxed);
        self.address.store(region.address, Ordering::Relaxed);
        self.length.store(region.length, Ordering::Relaxed);
        self.iova.store(region.iova, Ordering::Relaxed);
        let place = region.place.map_or(0, |place| place + 1);
        self.place.store(place, Ordering::Relaxed);
        self.pd.store(region.pd, Ordering::Relaxed);
        self.qpn
            .store(region.qpn.map_or(0, |qpn| qpn + 1), Ordering::Relaxed);
        self.key.store(key, Ordering::SeqCst);
    }

    /// Takes the key away; the fields may only change after [`wait_for_visitors`].
    pub(super) fn withdraw(&self) {
        self.key.store(0, Ordering::SeqCst);
    }

    /// Low byte for a key that is not the last one that stood here.
    pub(super) fn next_variant(&self) -> u8 {
        self.variant.fetch_add(1, Ordering::Relaxed) as u8
    }

    #[inline]
    fn read(&self) -> Region {
        Region {
            access: self.access.load(Ordering::Relaxed),
            address: self.address.load(Ordering::Relaxed),
            length: self.length.load(Ordering::Relaxed),
            iova: self.iova.load(Ordering::Relaxed),
            place: self.place.load(Ordering::Relaxed).checked_sub(1),
            pd: self.pd.load(Ordering::Relaxed),
            qpn: self.qpn.load(Ordering::Relaxed).checked_sub(1),
        }
    }
}

/// The region of a key, without a mark: for its owner, whose own business it is not to take it back meanwhile.
#[inline]
pub fn own_region(segment: &Segment, key: u32) -> Option<Region> {
    let record = segment.region(key >> 8)?;
    (key >> 8 != 0 && record.key.load(Ordering::Acquire) == key).then(|| record.read())
}

/// A region that stays while this lives.
pub struct Visit<'a> {
    mark: &'a Mark,
    region: Region,
}

impl Visit<'_> {
    #[inline]
    pub fn region(&self) -> &Region {
        &self.region
    }
}

impl Drop for Visit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.mark.index.store(0, Ordering::Release);
    }
}

/// The region of `key` in a peer's segment; none if there is none. `hint` spreads the threads of a process over the marks.
#[inline]
pub fn visit(segment: &Segment, me: Owner, key: u32, hint: usize) -> Option<Visit<'_>> {
    let index = key >> 8;
    let record = segment.region(index).filter(|_| index != 0)?;
    // Spares the table a page for each nonsensical key.
    if index >= segment.header().regions.load(Ordering::Relaxed) {
        return None;
    }
    let mark = leave_mark(segment.visits(me.slot()), index, hint);
    let right = record.key.load(Ordering::SeqCst) == key;
    let visit = Visit {
        mark,
        region: record.read(),
    };
    right.then_some(visit)
}

/// Takes the key of a window away that is bound to queue pair `qpn` of protection domain `pd`, as a SEND with invalidate asks. False
/// if `key` is not of such a window.
pub fn invalidate(segment: &Segment, me: Owner, key: u32, qpn: u32, pd: u32) -> bool {
    let Some(visit) = visit(segment, me, key, qpn as usize) else {
        return false;
    };
    let right = visit.region.qpn == Some(qpn) && visit.region.pd == pd;
    let record = segment.region(key >> 8).filter(|_| right);
    record.is_some_and(|record| {
        let taken = record
            .key
            .compare_exchange(key, 0, Ordering::SeqCst, Ordering::Relaxed);
        taken.is_ok()
    })
}

#[inline]
fn leave_mark(row: &VisitRow, index: u32, hint: usize) -> &Mark {
    for turn in 0.. {
        let mark = &row[(hint + turn) % MARKS];
        let claim = mark
            .index
            .compare_exchange(0, index, Ordering::SeqCst, Ordering::Relaxed);
        if claim.is_ok() {
            return mark;
        }
        if turn % MARKS == MARKS - 1 {
            std::thread::yield_now();
        }
    }
    unreachable!("the turns do not end")
}

/// Says that `me` will visit, before its first visit, and clears what an earlier process of its slot left.
pub fn announce_visits(segment: &Segment, me: Owner) {
    for mark in segment.visits(me.slot()) {
        if mark.owner.swap(me.word(), Ordering::Relaxed) != me.word() {
            mark.index.store(0, Ordering::Relaxed);
        }
    }
    let slot = me.slot();
    let word = &segment.header().visitors[usize::from(slot) / 64];
    word.fetch_or(1 << (slot % 64), Ordering::SeqCst);
}

/// Waits until nobody uses region `index`, whose key is gone. Busy if somebody that lives does not get on with it, say since
/// it was stopped.
pub fn wait_for_visitors(
    segment: &Segment,
    processes: &Processes,
    index: u32,
    patience: Duration,
) -> Result<(), Busy> {
    for (word, visitors) in segment.header().visitors.iter().enumerate() {
        let mut visitors = visitors.load(Ordering::SeqCst);
        while visitors != 0 {
            let slot = word as u32 * 64 + visitors.trailing_zeros();
            visitors &= visitors - 1;
            for mark in segment.visits(slot as u8) {
                wait_for_mark(mark, processes, index, patience)?;
            }
        }
    }
    Ok(())
}

fn wait_for_mark(
    mark: &Mark,
    processes: &Processes,
    index: u32,
    patience: Duration,
) -> Result<(), Busy> {
    let stands = || mark.index.load(Ordering::SeqCst) == index;
    if !stands() {
        return Ok(());
    }
    let begin = Instant::now();
    while stands() {
        let owner = Owner::from_word(mark.owner.load(Ordering::Relaxed));
        if begin.elapsed() > Duration::from_millis(1)
            && owner.is_none_or(|owner| !processes.alive(owner))
        {
            return Ok(());
        }
        if begin.elapsed() > patience {
            return Err(Busy);
        }
        std::thread::yield_now();
    }
    Ok(())
}
