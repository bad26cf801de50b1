//! Long transfers to one peer that go over several connections at once, in stripes.
//!
//! 1. What is left of a transfer when its receiver has taken it up is cut as connections have room: the one that is free takes the next
//!    stripe, so that each carries as much as it can.
//! 2. What a connection for stripes was given is known until the receiver says that it has the whole transfer. If the connection is
//!    over before, all of that is given to others once more, as nobody here knows how much of it has arrived.
//! 3. Until then the transfer is not complete for its sender either, whose memory is read again in that case.
//!
//! The connection for bulk data is not one of these: without it the peer is lost.

use std::collections::{BTreeMap, VecDeque};

use crate::handshake::Purpose;

/// A stripe is an eighth of what is left, so that connections end together, within these bounds.
const LEAST_BYTES: usize = 64 << 10;
const MOST_BYTES: usize = 1 << 20;

/// A stretch of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub transfer: u64,
    pub begin: usize,
    pub end: usize,
}

/// One peer's, on one lane.
#[derive(Default)]
pub struct Stripes {
    /// What is to be given to a connection.
    left: VecDeque<Part>,
    /// Of each transfer that is not known to have come, what connections for stripes were given.
    given: BTreeMap<u64, Vec<(u8, Part)>>,
}

impl Stripes {
    /// A transfer is to go in stripes, or what is left of it.
    pub fn add(&mut self, part: Part) {
        self.given.insert(part.transfer, Vec::new());
        self.left.push_back(part);
    }

    /// Whether a transfer goes, or went, in stripes and is not known to have come.
    pub fn has(&self, transfer: u64) -> bool {
        self.given.contains_key(&transfer)
    }

    /// Whether something is left to be given to a connection.
    #[inline]
    pub fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// The next stripe, which the connection for `purpose` is to carry.
    pub fn next(&mut self, purpose: Purpose) -> Option<Part> {
        let first = self.left.front_mut()?;
        let bytes = first.end - first.begin;
        let step = bytes.min((bytes / 8).clamp(LEAST_BYTES, MOST_BYTES));
        let end = first.begin + step;
        let stripe = Part { end, ..*first };
        first.begin = end;
        if first.begin == first.end {
            self.left.pop_front();
        }
        if let Purpose::Stripe(number) = purpose
            && let Some(given) = self.given.get_mut(&stripe.transfer)
        {
            match given.last_mut() {
                Some((last, part)) if *last == number && part.end == stripe.begin => part.end = end,
                _ => given.push((number, stripe)),
            }
        }
        Some(stripe)
    }

    /// A connection is over: what it had goes by others, before anything else.
    pub fn give_again(&mut self, number: u8) {
        for given in self.given.values_mut() {
            for (_, part) in given.extract_if(.., |(other, _)| *other == number) {
                self.left.push_front(part);
            }
        }
    }

    /// The receiver has all of a transfer, or it is over for another reason. Whether it went in stripes.
    pub fn end(&mut self, transfer: u64) -> bool {
        self.left.retain(|part| part.transfer != transfer);
        self.given.remove(&transfer).is_some()
    }
}

/// Which bytes of a transfer have come.
#[derive(Default)]
pub struct Ranges {
    /// In order, none next to another.
    all: Vec<(usize, usize)>,
}

impl Ranges {
    /// Adds bytes, some of which may be here already.
    pub fn add(&mut self, begin: usize, end: usize) {
        let first = self.all.partition_point(|&(_, other)| other < begin);
        let behind = self.all.partition_point(|&(other, _)| other <= end);
        let touched = &self.all[first..behind];
        let begin = touched
            .first()
            .map_or(begin, |&(other, _)| other.min(begin));
        let end = touched.last().map_or(end, |&(_, other)| other.max(end));
        self.all.splice(first..behind, [(begin, end)]);
    }

    /// How many bytes have come.
    pub fn bytes(&self) -> usize {
        self.all.iter().map(|(begin, end)| end - begin).sum()
    }

    /// Into how many pieces that come apart.
    pub fn pieces(&self) -> usize {
        self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Random;

    #[test]
    fn ranges_are_what_a_row_of_marks_is() {
        for seed in 1..200 {
            let mut random = Random(seed);
            let (mut ranges, mut marks) = (Ranges::default(), [false; 64]);
            for _ in 0..random.below(30) {
                let begin = random.below(63) as usize;
                let end = begin + 1 + random.below(63 - begin as u64) as usize;
                ranges.add(begin, end);
                marks[begin..end].fill(true);
                assert_eq!(ranges.bytes(), marks.iter().filter(|mark| **mark).count());
                let runs = marks.chunk_by(|a, b| a == b).filter(|run| run[0]);
                assert_eq!(ranges.pieces(), runs.count());
            }
        }
    }

    /// Connections take stripes in any order, and some end: all bytes of all transfers are given to one that lives on.
    #[test]
    fn what_ended_connections_had_is_given_again() {
        for seed in 1..50 {
            let mut random = Random(seed);
            let mut stripes = Stripes::default();
            let lengths: Vec<usize> = (0..3).map(|_| 1 + random.below(5 << 20) as usize).collect();
            for (transfer, &end) in lengths.iter().enumerate() {
                let transfer = transfer as u64;
                stripes.add(Part {
                    transfer,
                    begin: 0,
                    end,
                });
            }
            let mut carried: Vec<(Purpose, Part)> = Vec::new();
            let mut over = 0;
            while let Some((purpose, part)) = {
                let purpose = match random.below(3) as u8 {
                    0 => Purpose::Bulk,
                    number => Purpose::Stripe(over + number),
                };
                stripes.next(purpose).map(|part| (purpose, part))
            } {
                assert!(part.begin < part.end && part.end - part.begin <= MOST_BYTES);
                carried.push((purpose, part));
                if random.below(5) == 0 && over < 100 {
                    over += 1;
                    let ended = Purpose::Stripe(over);
                    carried.retain(|(purpose, _)| *purpose != ended);
                    stripes.give_again(over);
                }
            }
            for (transfer, &length) in lengths.iter().enumerate() {
                let mut ranges = Ranges::default();
                let mut bytes = 0;
                for (_, part) in &carried {
                    if part.transfer == transfer as u64 {
                        ranges.add(part.begin, part.end);
                        bytes += part.end - part.begin;
                    }
                }
                assert_eq!((ranges.bytes(), bytes), (length, length), "seed {seed}");
                assert!(stripes.end(transfer as u64) && !stripes.end(transfer as u64));
            }
            assert!(!stripes.has_left());
        }
    }

    #[test]
    fn of_a_transfer_that_is_over_nothing_is_left() {
        let mut stripes = Stripes::default();
        let part = Part {
            transfer: 7,
            begin: 5,
            end: 3 << 20,
        };
        stripes.add(part);
        let first = stripes.next(Purpose::Stripe(1)).unwrap();
        assert_eq!((first.begin, first.transfer), (5, 7));
        assert!(stripes.has(7) && stripes.end(7) && !stripes.has(7));
        stripes.give_again(1);
        assert_eq!(stripes.next(Purpose::Bulk), None);
    }
}
