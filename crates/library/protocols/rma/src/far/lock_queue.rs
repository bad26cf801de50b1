//! The passive-target lock of one part, held by its own process and asked for by messages: shared or exclusive, first come first
//! served (MPI-5.0 §12.5.3). As [`QueuedLock`](weft_sync::QueuedLock) of memory that all of a window share.

use std::collections::{BTreeMap, VecDeque};

use weft_sync::LockKind;

/// Who has got the lock, or is refused it, and the tag by which it waits to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub origin: u32,
    pub reply: u32,
}

#[derive(Default)]
pub struct LockQueue {
    holders: BTreeMap<u32, LockKind>,
    waiting: VecDeque<(Grant, LockKind)>,
}

impl LockQueue {
    /// An origin asks for the lock. Whether it has it now; else it waits, and [`release`](Self::release) tells of it.
    /// An error if it has the lock, or waits for it, already.
    pub fn request(&mut self, who: Grant, kind: LockKind) -> Result<bool, AlreadyAsked> {
        let waits = |(waiting, _): &(Grant, LockKind)| waiting.origin == who.origin;
        if self.holders.contains_key(&who.origin) || self.waiting.iter().any(waits) {
            return Err(AlreadyAsked);
        }
        let granted = self.waiting.is_empty() && self.fits(kind);
        match granted {
            true => drop(self.holders.insert(who.origin, kind)),
            false => self.waiting.push_back((who, kind)),
        }
        Ok(granted)
    }

    fn fits(&self, kind: LockKind) -> bool {
        // All that hold it together hold it shared.
        match self.holders.values().next() {
            None => true,
            Some(&held) => (held, kind) == (LockKind::Shared, LockKind::Shared),
        }
    }

    /// An origin lets the lock go. Those that have it from here on, in the order in which they came.
    pub fn release(&mut self, origin: u32) -> Vec<Grant> {
        self.holders.remove(&origin);
        let mut granted = Vec::new();
        while let Some(&(who, kind)) = self.waiting.front()
            && self.fits(kind)
        {
            self.waiting.pop_front();
            self.holders.insert(who.origin, kind);
            granted.push(who);
        }
        granted
    }

    /// Those that wait, who do so no more.
    pub fn refuse(&mut self) -> Vec<Grant> {
        self.waiting.drain(..).map(|(who, _)| who).collect()
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub fn holders(&self) -> impl Iterator<Item = u32> {
        self.holders.keys().copied()
    }
}

/// An origin asks for a lock that it has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyAsked;
