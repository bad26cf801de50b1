//! Communicators whose messages spread over the process's lanes, by what their program promises (MPI-5.0 §7.4.4).
//!
//! Without wildcards a message can meet only receives that name its tag, or its source, and so those of one tag, or between
//! one pair of processes, keep their order (MPI-5.0 §3.5) though others go by another lane. Threads that use tags of their own, or
//! speak to processes of their own, then share no lane, as if each had its own communicator.
//!
//! Sender and receiver must find the same lane for a message, always: so all processes of a communicator agree as it is
//! made, and it stays so. `MPI_Comm_set_info` changes nothing in that: messages may be under way, and their receives not
//! posted (§7.4.4, advice to users: such a hint may count at creation only).

use weft_engine::LANES;
use weft_error::Result;
use weft_error::told::Reader;

use crate::comm::numbers::Contexts;
use crate::comm::numbers::agreement::read_round;

/// What the lane of a message is chosen by, beside its communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSelection {
    /// Every receive names its tag.
    pub by_tag: bool,
    /// Every receive names its source.
    pub by_pair: bool,
}

/// Marks beside a communicator's number, where its contexts do not reach: the highest bits, so that one comparison finds any.
pub(crate) const REVOKED: u32 = 1 << 29;
const BY_TAG: u32 = 1 << 30;
const BY_PAIR: u32 = 1 << 31;
const MARKS: u32 = REVOKED | BY_TAG | BY_PAIR;

/// The communicator's number of a word with marks.
#[inline]
pub(crate) fn number(word: u32) -> u32 {
    word & !MARKS
}

#[inline]
pub(crate) fn is_revoked(word: u32) -> bool {
    word & REVOKED != 0
}

/// Whether messages choose among lanes, or there are none any more.
#[inline(always)]
pub(crate) fn is_any(word: u32) -> bool {
    word > !MARKS
}

impl LaneSelection {
    /// What a process promises that will have no part in it.
    pub const EVERYTHING: LaneSelection = LaneSelection {
        by_tag: true,
        by_pair: true,
    };

    pub fn mark(self, number: u32) -> u32 {
        let by_tag = if self.by_tag { BY_TAG } else { 0 };
        let by_pair = if self.by_pair { BY_PAIR } else { 0 };
        number | by_tag | by_pair
    }

    pub fn of_word(word: u32) -> LaneSelection {
        LaneSelection {
            by_tag: word & BY_TAG != 0,
            by_pair: word & BY_PAIR != 0,
        }
    }

    /// All processes of a new communicator agree on its number, and on what all of them promise. `largest` returns the
    /// element-wise maximum over them, of whom this one may be the only one.
    pub fn agree(
        self,
        contexts: &Contexts,
        alone: bool,
        mut largest: impl FnMut([i64; 4]) -> Result<[i64; 4]>,
    ) -> Result<(u32, LaneSelection)> {
        let mut agreed = self;
        let number = contexts.agree(alone, |pair| {
            let (pair, selection) = LaneSelection::of_words(largest(self.words(pair))?);
            agreed = selection;
            Ok(pair)
        })?;
        Ok((number, agreed))
    }

    /// Of one process's words the largest is told to all: what it does not promise nobody does.
    pub fn words(self, [high, low]: [i64; 2]) -> [i64; 4] {
        let unpromised = |promised: bool| i64::from(!promised);
        [high, low, unpromised(self.by_tag), unpromised(self.by_pair)]
    }

    /// Whether a round's words are such.
    pub fn check(mut words: Reader<'_>) -> Result<()> {
        read_round(&mut words)?;
        words.flag("promise")?;
        words.flag("promise")?;
        Ok(())
    }

    pub fn of_words([high, low, tag, pair]: [i64; 4]) -> ([i64; 2], LaneSelection) {
        let (by_tag, by_pair) = (tag == 0, pair == 0);
        ([high, low], LaneSelection { by_tag, by_pair })
    }
}

/// The lane of a message of a communicator that spreads: the same for both directions between two processes. Both
/// give the sender's rank and the receiver's; what the messages do not spread by may be a wildcard.
#[cold]
#[inline(never)]
pub(crate) fn lane(word: u32, ranks: [u32; 2], tag: u32) -> u32 {
    let selection = LaneSelection::of_word(word);
    let pair = if selection.by_pair {
        ranks[0].wrapping_add(ranks[1])
    } else {
        0
    };
    let tag = if selection.by_tag { remainder(tag) } else { 0 };
    number(word).wrapping_add(pair).wrapping_add(tag) % LANES
}

/// The tag as a polynomial modulo x⁴ + x + 1. That is one to one for the sixteen values of any four neighbouring bits, and so
/// for the eight of any three: threads of which thread t uses tag t, 2t, 4t, or any other power of two times t, and tags that
/// hold t twice, side by side, have a lane each.
fn remainder(tag: u32) -> u32 {
    const _: () = assert!(LANES == 16);
    /// The powers x^k, by k modulo 15, that have each of the remainder's bits.
    const POWERS: [u32; 4] = [
        masks(&[0, 4, 7, 8, 10, 12, 13, 14]),
        masks(&[1, 4, 5, 7, 9, 10, 11, 12]),
        masks(&[2, 5, 6, 8, 10, 11, 12, 13]),
        masks(&[3, 6, 7, 9, 11, 12, 13, 14]),
    ];
    let bit = |power: usize| (tag & POWERS[power]).count_ones() & 1;
    bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3
}

const fn masks(powers: &[u32]) -> u32 {
    let (mut mask, mut place) = (0, 0);
    while place < powers.len() {
        let mut power = powers[place];
        while power < u32::BITS {
            mask |= 1 << power;
            power += 15;
        }
        place += 1;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn divided(mut tag: u32) -> u32 {
        for place in (4..u32::BITS).rev() {
            if tag >> place & 1 != 0 {
                tag ^= 0b10011 << (place - 4);
            }
        }
        tag
    }

    #[test]
    fn a_tag_is_reduced_as_by_long_division() {
        for tag in (0..5000)
            .chain((0..32).map(|place| 1 << place))
            .chain([0x7fff_ffff, 0x5a5a_1234])
        {
            assert_eq!(remainder(tag), divided(tag), "{tag:#x}");
        }
    }

    /// The lanes of so many threads, of which thread t uses tag t times `stride`.
    fn lanes_of_tags(word: u32, threads: u32, stride: u32) -> usize {
        let lanes = (0..threads).map(|thread| lane(word, [0, 1], thread * stride));
        lanes.collect::<BTreeSet<u32>>().len()
    }

    #[test]
    fn threads_have_a_lane_each_whatever_the_distance_of_their_tags() {
        let both = LaneSelection {
            by_tag: true,
            by_pair: true,
        };
        let word = both.mark(5);
        assert_eq!(number(word), 5);
        for threads in [2, 4, 8, LANES] {
            let most = u32::BITS - threads.ilog2();
            let powers = (0..most).map(|place| 1 << place);
            // The last holds the thread twice.
            for stride in powers.chain([threads + 1]) {
                let lanes = lanes_of_tags(word, threads, stride);
                assert_eq!(lanes, threads as usize, "{threads} tags {stride} apart");
            }
        }
        let peers = (1..=LANES).map(|peer| lane(word, [0, peer], 77));
        assert_eq!(peers.collect::<BTreeSet<u32>>().len(), LANES as usize);
    }

    #[test]
    fn both_sides_find_it_without_what_a_wildcard_stands_for() {
        let any = u32::MAX;
        for (tag, pair) in [(false, false), (true, false), (false, true), (true, true)] {
            let selection = LaneSelection {
                by_tag: tag,
                by_pair: pair,
            };
            let word = selection.mark(3);
            assert_eq!(is_any(word), tag || pair);
            assert_eq!(LaneSelection::of_word(word), selection);
            let named = lane(word, [4, 9], 1234);
            let source = if pair { 4 } else { any };
            let tag = if tag { 1234 } else { any };
            assert_eq!(lane(word, [source, 9], tag), named);
            assert_eq!(lane(word, [9, 4], 1234), named, "answers come the same way");
        }
    }

    #[test]
    fn what_one_does_not_promise_nobody_does() {
        let contexts = Contexts::new(Vec::new);
        let mine = LaneSelection {
            by_tag: true,
            by_pair: true,
        };
        let theirs = LaneSelection {
            by_tag: true,
            by_pair: false,
        };
        let largest = |words: [i64; 4]| {
            let others = theirs.words([words[0], words[1]]);
            Ok(std::array::from_fn(|place| words[place].max(others[place])))
        };
        let (_, agreed) = mine.agree(&contexts, false, largest).unwrap();
        assert_eq!(agreed, theirs);
    }
}
