//! Posted receives while few wait: they stand in one small array in order of posting.
//!
//! The first that accepts a message is the oldest, whatever its wildcards, so an arrival needs no hash, no table and no
//! comparison of ages; a program that posts a few receives at a time never leaves the array. Places are used once, from
//! the first to the last. When they are used up, the receives that still wait move to the front, if that frees half of
//! the places; else all move to the tables, and new ones go there too until none is left in them.

use std::num::NonZeroU64;

use crate::{Envelope, NIL, Pattern};

/// Places: bits of the mask.
const PLACES: usize = u32::BITS as usize;
/// As many move to the front, at most. So that is done at most once in this number of posts.
const KEEP_MAX: u32 = PLACES as u32 / 2;

/// One cache line for a payload of up to 32 bytes.
#[repr(C, align(64))]
struct Entry<P> {
    pattern: Pattern,
    /// The cell that some receive in this place moved to, or `NIL`: the cell's number tells whether it was the last.
    cell: u32,
    /// Of the receive that is, or was last, in this place.
    stamp: Option<NonZeroU64>,
    /// `Some` where the receive waits here.
    value: Option<P>,
}

const _: () = assert!(
    size_of::<Entry<[u64; 4]>>() == 64,
    "a posted receive is one cache line"
);

impl<P> Entry<P> {
    const FREE: Entry<P> = Entry {
        pattern: Pattern {
            context: 0,
            source: 0,
            tag: 0,
        },
        cell: NIL,
        stamp: None,
        value: None,
    };
}

pub(crate) struct Few<P> {
    /// A bit for each place: whether a receive waits there.
    live: u32,
    /// The next place to use. All are used while receives stand in the tables.
    next: u32,
    entries: [Entry<P>; PLACES],
}

/// A receive on its way from the array to the tables.
pub(crate) struct Moving<P> {
    pub place: u32,
    pub pattern: Pattern,
    pub stamp: NonZeroU64,
    pub value: P,
}

impl<P> Few<P> {
    pub const fn new() -> Self {
        Few {
            live: 0,
            next: 0,
            entries: [const { Entry::FREE }; PLACES],
        }
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.live.count_ones()
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    #[inline(always)]
    pub fn is_used_up(&self) -> bool {
        self.next == PLACES as u32
    }

    /// Puts down a receive that is younger than all here. There must be a place.
    #[inline(always)]
    pub fn push(&mut self, pattern: Pattern, stamp: NonZeroU64, value: P) {
        let place = self.next;
        let entry = &mut self.entries[place as usize % PLACES];
        entry.pattern = pattern;
        entry.stamp = Some(stamp);
        entry.value = Some(value);
        self.live |= 1 << (place % PLACES as u32);
        self.next = place + 1;
    }

    /// Takes the oldest receive, if it accepts the message. There must be one.
    #[inline(always)]
    pub fn take_first(&mut self, envelope: &Envelope) -> Option<P> {
        let entry = &mut self.entries[self.live.trailing_zeros() as usize % PLACES];
        if !entry.pattern.accepts(envelope) {
            return None;
        }
        self.live &= self.live.wrapping_sub(1);
        entry.value.take()
    }

    /// Takes the oldest receive that accepts the message, where the first does not.
    #[inline(never)]
    pub fn take_later(&mut self, envelope: &Envelope, steps: &mut u32) -> Option<P> {
        let mut left = self.live;
        *steps += 1;
        loop {
            left &= left.wrapping_sub(1);
            if left == 0 {
                return None;
            }
            *steps += 1;
            let place = left.trailing_zeros();
            if self.entries[place as usize % PLACES]
                .pattern
                .accepts(envelope)
            {
                return self.take(place);
            }
        }
    }

    #[inline(always)]
    pub fn take(&mut self, place: u32) -> Option<P> {
        self.live &= !(1 << (place % PLACES as u32));
        self.entries[place as usize % PLACES].value.take()
    }

    /// The place where the receive with this number is, or was until it was taken or moved.
    pub fn place_of(&self, stamp: NonZeroU64, steps: &mut u32) -> Option<u32> {
        let mut entries = (0..).zip(&self.entries);
        let found = entries.find(|(_, entry)| {
            *steps += 1;
            entry.stamp == Some(stamp)
        });
        Some(found?.0)
    }

    /// Where the last receive in this place may have moved to.
    pub fn cell_of(&self, place: u32) -> u32 {
        self.entries[place as usize % PLACES].cell
    }

    /// Frees at least half of the places by moving receives to the front. `false` if too many wait.
    pub fn compact(&mut self, steps: &mut u32) -> bool {
        let count = self.len();
        if count > KEEP_MAX {
            return false;
        }
        *steps += count;
        for place in 0..count {
            self.entries
                .swap(place as usize, self.live.trailing_zeros() as usize);
            self.live &= self.live.wrapping_sub(1);
        }
        self.live = (1 << count) - 1;
        self.next = count;
        true
    }

    /// Takes the oldest receive, for the tables, which will not be empty then: `None` closes the array.
    pub fn take_oldest(&mut self) -> Option<Moving<P>> {
        if self.live == 0 {
            self.next = PLACES as u32;
            return None;
        }
        let place = self.live.trailing_zeros();
        let Entry { pattern, stamp, .. } = self.entries[place as usize % PLACES];
        Some(Moving {
            place,
            pattern,
            stamp: stamp?,
            value: self.take(place)?,
        })
    }

    /// Says where the last receive in this place is now.
    pub fn moved(&mut self, place: u32, cell: u32) {
        self.entries[place as usize % PLACES].cell = cell;
    }

    /// Oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (NonZeroU64, &Pattern, &P)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry.stamp?, &entry.pattern, entry.value.as_ref()?)))
    }

    #[cfg(test)]
    pub fn audit(&self) {
        let mut last = None;
        for (place, entry) in self.entries.iter().enumerate() {
            let live = self.live >> place & 1 == 1;
            assert_eq!(entry.value.is_some(), live);
            assert!(!live || place < self.next as usize);
            assert!(!live || entry.stamp > last, "oldest first");
            last = if live { entry.stamp } else { last };
        }
    }
}
