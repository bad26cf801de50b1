//! Posted receives while few wait: they stand in one small array in order of posting.
//!
//! The first that accepts a message is the oldest, whatever its wildcards, so an arrival needs no hash, no table and no
//! comparison of ages; a program that posts a few receives at a time never leaves the array. Places are used from the
//! first to the last, and mostly taken in that order too: then the oldest is the one after the last taken. When half of
//! them are used, and when all are, the receives that wait move to the front, if that frees half of the used ones. If it
//! does not and all are used, they move to the tables, and new ones go there too until none is left in them.
//!
//! A message that is not for the oldest is looked for in order. Where several threads each wait for their own messages, those
//! come in runs: what was seen not to accept a run's first message is not looked at again for the others.

use std::num::NonZeroU64;

use crate::{Envelope, NIL, Pattern};

/// A bit for each place. Windows of 64 messages, which are common, stay in the array.
type Mask = u128;
const PLACES: usize = Mask::BITS as usize;
const LAST: u32 = PLACES as u32 - 1;
const MIDDLE: u32 = PLACES as u32 / 2;

/// The bits of `place` and all behind it.
#[inline(always)]
fn from(place: u32) -> Mask {
    Mask::MAX.checked_shl(place).unwrap_or(0)
}

/// Half a cache line for a payload of one word.
#[repr(C, align(32))]
struct Entry<P> {
    pattern: Pattern,
    /// The cell that some receive in this place moved to, or `NIL`: the cell's number tells whether it was the last.
    cell: u32,
    /// Of the receive that is, or was last, in this place.
    stamp: Option<NonZeroU64>,
    /// `Some` where the receive waits here.
    value: Option<P>,
}

const _: () = assert!(size_of::<Entry<std::num::NonZeroU64>>() == 32);

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
    /// A bit for each place behind `first` whose receive was taken before older ones.
    taken: Mask,
    /// The place of the oldest receive; `next` if none waits.
    first: u32,
    /// The next place to use: while receives stand in the tables, the last.
    next: u32,
    /// The place whose use calls for [`Few::compact`]: the next of `MIDDLE` and `LAST`.
    check: u32,
    /// Of the message last looked for: no receive before this place accepts one of this envelope.
    seen: (Envelope, u32),
    /// Apart, so that a lane can be made on a small stack.
    entries: Box<[Entry<P>; PLACES]>,
}

/// A receive on its way from the array to the tables.
pub(crate) struct Moving<P> {
    pub place: u32,
    pub pattern: Pattern,
    pub stamp: NonZeroU64,
    pub value: P,
}

impl<P> Few<P> {
    const NOTHING: (Envelope, u32) = (
        Envelope {
            context: 0,
            source: 0,
            tag: 0,
        },
        0,
    );

    pub fn new() -> Self {
        let entries: Box<[Entry<P>]> = (0..PLACES).map(|_| Entry::FREE).collect();
        Few {
            taken: 0,
            first: 0,
            next: 0,
            check: MIDDLE,
            seen: Self::NOTHING,
            entries: entries
                .try_into()
                .ok()
                .expect("as many as there are places"),
        }
    }

    /// A bit for each place: whether a receive waits there.
    #[inline(always)]
    fn live(&self) -> Mask {
        from(self.first) & !from(self.next) & !self.taken
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.live().count_ones()
    }

    /// Puts down a receive that is younger than all here. If that returns `true`, [`Few::compact`] comes next.
    #[inline(always)]
    pub fn push(&mut self, pattern: Pattern, stamp: NonZeroU64, value: P) -> bool {
        let place = self.next % PLACES as u32;
        let entry = &mut self.entries[place as usize];
        entry.pattern = pattern;
        entry.stamp = Some(stamp);
        entry.value = Some(value);
        self.next = place + 1;
        place == self.check
    }

    /// The place of the oldest receive.
    #[inline(always)]
    pub fn first(&self) -> Option<u32> {
        (self.first < self.next).then_some(self.first)
    }

    /// Takes the oldest receive, if it is one for messages of exactly this envelope.
    #[inline(always)]
    pub fn take_first(&mut self, envelope: &Envelope) -> Option<P> {
        let place = self.first()?;
        let pattern = &self.entries[place as usize % PLACES].pattern;
        if pattern.context != envelope.context
            || pattern.source != envelope.source
            || pattern.tag != envelope.tag
        {
            return None;
        }
        self.strike_first();
        self.entries[place as usize % PLACES].value.take()
    }

    /// Strikes out the oldest receive. Its payload is still to be taken, before anything is put down.
    #[inline(always)]
    fn strike_first(&mut self) {
        self.first += 1;
        if self.taken != 0 {
            self.pass_taken();
        }
    }

    /// Moves `first` on to a receive that waits.
    #[inline(never)]
    fn pass_taken(&mut self) {
        self.first += (!(self.taken >> self.first)).trailing_zeros();
        self.taken &= from(self.first);
    }

    /// Strikes out the receive in `place`.
    #[inline(always)]
    fn strike_at(&mut self, place: u32) {
        if place == self.first {
            self.strike_first();
        } else {
            self.taken |= 1 << (place % PLACES as u32);
        }
    }

    /// Takes the oldest receive that accepts the message.
    #[inline(always)]
    pub fn take_accepting(&mut self, envelope: &Envelope, steps: &mut u32) -> Option<P> {
        let mut left = self.live();
        if self.seen.0 == *envelope {
            left &= from(self.seen.1);
        }
        while left != 0 {
            *steps += 1;
            let place = left.trailing_zeros();
            let pattern = &self.entries[place as usize % PLACES].pattern;
            if pattern.accepts(envelope) {
                self.seen = (*envelope, place);
                return self.take(place);
            }
            left &= left.wrapping_sub(1);
        }
        self.seen = (*envelope, self.next);
        None
    }

    #[inline(always)]
    fn take(&mut self, place: u32) -> Option<P> {
        self.strike_at(place);
        self.entries[place as usize % PLACES].value.take()
    }

    /// Takes the receive with this number; or says which cell it may have moved to.
    pub fn cancel(&mut self, stamp: NonZeroU64, steps: &mut u32) -> Result<P, u32> {
        let mut entries = (0..).zip(&*self.entries);
        let found = entries.find(|(_, entry)| {
            *steps += 1;
            entry.stamp == Some(stamp)
        });
        match found {
            Some((place, Entry { value: Some(_), .. })) => self.take(place).ok_or(NIL),
            // It was here, but the place may be one that is yet to be used.
            Some((_, entry)) => Err(entry.cell),
            None => Err(NIL),
        }
    }

    /// Sees to it that there is a place after the last used one, by moving receives to the front if that is worth it.
    /// `false` if all must move out, by [`Few::take_oldest`] and [`Few::close`].
    pub fn compact(&mut self, steps: &mut u32) -> bool {
        let mut live = self.live();
        let count = live.count_ones();
        if 2 * count > self.next {
            self.check = LAST;
            return self.next != PLACES as u32;
        }
        *steps += count;
        for to in 0..count as usize {
            let from = live.trailing_zeros() as usize % PLACES;
            live &= live.wrapping_sub(1);
            if from != to {
                self.entries[to] = std::mem::replace(&mut self.entries[from], Entry::FREE);
            }
        }
        self.taken = 0;
        self.seen = Self::NOTHING;
        self.first = 0;
        self.next = count;
        self.check = MIDDLE;
        true
    }

    /// Takes the oldest receive, for the tables, where all are to go.
    #[inline(always)]
    pub fn take_oldest(&mut self) -> Option<Moving<P>> {
        let place = self.first()?;
        let Entry { pattern, stamp, .. } = self.entries[place as usize % PLACES];
        Some(Moving {
            place,
            pattern,
            stamp: stamp?,
            value: self.take(place)?,
        })
    }

    /// Leaves one place, the last, to an empty array: what is put there next is to go to the tables, or, if they are
    /// empty by then, to the front.
    #[inline(always)]
    pub fn close(&mut self) {
        self.taken = 0;
        self.seen = Self::NOTHING;
        self.first = LAST;
        self.next = LAST;
        self.check = LAST;
    }

    /// Says where the last receive in this place is now.
    #[inline(always)]
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
        assert!(self.first <= self.next);
        let behind = from(self.first + 1) & !from(self.next);
        assert_eq!(self.taken & !behind, 0);
        let mut last = None;
        for (place, entry) in self.entries.iter().enumerate() {
            let live = self.live() >> place & 1 == 1;
            assert_eq!(entry.value.is_some(), live);
            assert!(!live || entry.stamp > last, "oldest first");
            last = if live { entry.stamp } else { last };
        }
    }
}
