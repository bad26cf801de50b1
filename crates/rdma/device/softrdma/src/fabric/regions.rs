//! Memory regions and windows: a table in the segment of their owner, in which peers look keys up.
//!
//! A key is `index << 8 | generation`; index 0 is not used, so a key is never 0.
//!
//! # Protocol
//! Rules 1 and 2 are `weft_sync::withdrawal`, which has a model.
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

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use weft_sync::withdrawal;

use super::lock::Busy;
use super::numbers::Owner;
use super::processes::Processes;
use super::record::region::{MARKS, Mark, Region, VisitRow};
use super::segment::Segment;

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
        withdrawal::leave(&self.mark.index);
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
    let right = withdrawal::stands(&record.key, key);
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
    for attempt in 0.. {
        let mark = &row[(hint + attempt) % MARKS];
        if withdrawal::claim(&mark.index, index) {
            return mark;
        }
        if attempt % MARKS == MARKS - 1 {
            weft_sync::yield_now();
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
    let stands = || withdrawal::is_for(&mark.index, index);
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
        weft_sync::yield_now();
    }
    Ok(())
}
