//! What the responder said it holds behind a loss (`responder/held`), and what is to be sent again therefore.
//!
//! 1. A position in flight is unknown, held, or repeated. One before the highest held position was lost: it is sent again, once, and is
//!    then repeated.
//! 2. A repeated one was lost again as soon as the responder holds anything that was sent for the first time after it.
//! 3. What is held is not sent again, whatever happens, but for the oldest position in flight, which the responder
//!    expects; and after a time-out, when nothing that it said counts any more.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Unknown,
    Held,
    /// Sent again when everything before this position had been sent.
    Repeated(u64),
}

#[derive(Debug, Default)]
pub(super) struct Selective {
    /// The position of the first mark.
    first: u64,
    marks: VecDeque<Mark>,
    /// One past the last position that is held.
    highest: u64,
    /// Held positions that the cursor has passed.
    passed: u64,
    repeats: VecDeque<u64>,
}

impl Selective {
    pub fn clear(&mut self) {
        *self = Selective::default();
    }

    /// Nothing before this position is in flight any more; `cursor` is the next to be sent.
    pub fn advance(&mut self, acknowledged: u64, cursor: u64) {
        while self.first < acknowledged {
            match self.marks.pop_front() {
                Some(Mark::Held) if self.first < cursor => self.passed -= 1,
                Some(_) => (),
                None => return self.clear(),
            }
            self.first += 1;
        }
        while self
            .repeats
            .pop_front_if(|position| *position < acknowledged)
            .is_some()
        {}
    }

    /// Everything from `acknowledged` on is sent anew, but for what is held.
    pub fn go_back(&mut self) {
        self.repeats.clear();
        self.passed = 0;
        for mark in &mut self.marks {
            if *mark != Mark::Held {
                *mark = Mark::Unknown;
            }
        }
    }

    pub fn is_held(&self, position: u64) -> bool {
        let index = position.checked_sub(self.first);
        index.and_then(|index| self.marks.get(index as usize)) == Some(&Mark::Held)
    }

    /// The cursor went over these positions.
    pub fn pass(&mut self, positions: Range<u64>) {
        if !self.marks.is_empty() {
            self.passed += positions.filter(|at| self.is_held(*at)).count() as u64;
        }
    }

    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// The next position to be sent again.
    pub fn repeat(&self) -> Option<u64> {
        self.repeats.front().copied()
    }

    pub fn repeated(&mut self) {
        self.repeats.pop_front();
    }

    /// The responder expects `acknowledged`, and holds what the bits say of the positions behind it. `cursor` is the next position to
    /// be sent, `sent` the first never sent. `is_sent_apart` tells whether a packet was sent for a position, and not for several.
    /// True if something is found to be lost.
    pub fn report(
        &mut self,
        acknowledged: u64,
        (cursor, sent): (u64, u64),
        bits: &[u8],
        is_sent_apart: impl Fn(u64) -> bool,
    ) -> bool {
        if self.marks.is_empty() {
            self.first = acknowledged;
        }
        for (index, bit) in bits.iter().enumerate().flat_map(|(index, byte)| {
            (0..8).filter_map(move |bit| (byte >> bit & 1 == 1).then_some((index, bit)))
        }) {
            let position = acknowledged + 1 + (8 * index + bit) as u64;
            if position >= sent {
                break;
            }
            self.hold(position, cursor);
        }
        let mut lost = false;
        for position in acknowledged..self.highest.min(cursor) {
            let mark = &mut self.marks[(position - self.first) as usize];
            let missing = match *mark {
                Mark::Unknown => true,
                Mark::Held => false,
                Mark::Repeated(sent_before) => self.highest > sent_before,
            };
            if missing && is_sent_apart(position) {
                *mark = Mark::Repeated(sent);
                self.repeats.push_back(position);
                lost = true;
            }
        }
        lost
    }

    fn hold(&mut self, position: u64, cursor: u64) {
        let index = (position - self.first) as usize;
        if index >= self.marks.len() {
            self.marks.resize(index + 1, Mark::Unknown);
        }
        if std::mem::replace(&mut self.marks[index], Mark::Held) != Mark::Held && position < cursor
        {
            self.passed += 1;
        }
        self.highest = self.highest.max(position + 1);
    }
}
