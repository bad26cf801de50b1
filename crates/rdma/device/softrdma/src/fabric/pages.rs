//! The UAR pages of each device: who owns which, in the fabric segment.
//!
//! A page's word is 0 or its owner's. It goes from 0 to an owner by a compare-exchange of that process's, and back by a store of
//! that process's, or of who takes back what it owned when it is dead: each a single step.

use std::sync::atomic::{AtomicU32, Ordering};

use super::layout::{self, PAGES_OF_DEVICE};
use super::mapping::Mapping;
use super::numbers::{MAX_DEVICES, Owner, UAR_PAGES};
use super::processes::Processes;

/// The UAR pages of one device.
#[derive(Clone, Copy)]
pub struct Pages<'a> {
    processes: &'a Processes,
    words: &'a [AtomicU32; UAR_PAGES],
}

/// The words of device `device`, which is below `MAX_DEVICES`.
pub(super) fn words(fabric: &Mapping, device: u32) -> &[AtomicU32; UAR_PAGES] {
    let offset = layout::fabric::PAGES + u64::from(device) * PAGES_OF_DEVICE;
    fabric.at(offset).expect("inside the fabric segment")
}

impl<'a> Pages<'a> {
    pub(super) fn new(processes: &'a Processes, device: u32) -> Pages<'a> {
        assert!(device < MAX_DEVICES);
        let words = words(processes.fabric(), device);
        Pages { processes, words }
    }

    /// A page of the first `limit` that nobody owned, now this process's; none if there is none even after the dead gave
    /// theirs back.
    pub fn take(&self, limit: u32) -> Option<u32> {
        let take = || self.take_free(limit);
        take().or_else(|| self.processes.reap().then(take).flatten())
    }

    fn take_free(&self, limit: u32) -> Option<u32> {
        let me = self.processes.me().word();
        let words = &self.words[..UAR_PAGES.min(limit as usize)];
        let free = words.iter().position(|word| {
            word.load(Ordering::Relaxed) == 0
                && word
                    .compare_exchange(0, me, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
        });
        free.map(|page| page as u32)
    }

    /// Gives a page back that is this process's.
    pub fn give_back(&self, page: u32) {
        let me = self.processes.me().word();
        if let Some(word) = self.words.get(page as usize) {
            // Not this process's any more only if it was wrongly held for dead; then it is not its to give.
            let _ = word.compare_exchange(me, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Pages that processes own, living or not yet known to be dead.
    pub fn taken(&self) -> u32 {
        let taken = |word: &&AtomicU32| word.load(Ordering::Relaxed) != 0;
        self.words.iter().filter(taken).count() as u32
    }

    /// Pages of `owner`.
    pub fn taken_by(&self, owner: Owner) -> u32 {
        let his = |word: &&AtomicU32| word.load(Ordering::Relaxed) == owner.word();
        self.words.iter().filter(his).count() as u32
    }
}
