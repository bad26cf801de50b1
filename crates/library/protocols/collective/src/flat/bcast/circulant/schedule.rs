//! Which block each rank receives and sends in each round.
//!
//! Ranks are numbered from the root. In round k of each phase of q rounds, as many as a number of ranks has bits, a rank sends to the one
//! `skips[k]` after it; `skips[q]` is the number of ranks, and each of the others half of the next, rounded up. The root sends a new block in each
//! round. The greatest skips that fit into a rank's number, one after the other, are the way on which its first block of a phase comes: the root
//! sent that in the round of the last and smallest of them, which is the *base* of the rank. In each other round a rank receives a block of the phase before:
//! the one of the greatest base, of those that it does not have yet, among the ranks from which a block can have come to the sender since, which are
//! those less than the next skip but not less than this one before it; where there is none, the one of the rank that is the next skip before it.
//! That the sender always has it, and each rank each block once, is shown for many numbers of ranks (`tests`).

use std::ops::RangeInclusive;

use crate::cost::levels;

pub(super) struct Schedule {
    /// The distances, and the number of ranks.
    skips: Vec<usize>,
    blocks: usize,
    /// Rounds that are left out at the beginning, so that the last one ends a phase.
    left_out: usize,
    /// One for each round of a phase. There is none to receive at the root, and none to send to it.
    receives: Vec<Option<Block>>,
    sends: Vec<Option<Block>>,
}

/// A block, of those that the root sends in a phase by the round.
#[derive(Clone, Copy)]
struct Block {
    round: usize,
    /// Whether the root sends it in the same phase, or did so in the one before.
    is_new: bool,
}

impl Schedule {
    /// The schedule of the rank that is `number` places after the root.
    pub fn new(ranks: usize, blocks: usize, number: usize) -> Schedule {
        let graph = Graph::new(ranks);
        let rounds = graph.rounds();
        let receives = graph.receives(number);
        let sends = (0..rounds).map(|round| {
            let to = (number + graph.skips[round]) % ranks;
            graph.receives(to)[round]
        });
        Schedule {
            blocks,
            left_out: (rounds - (blocks - 1) % rounds) % rounds,
            receives,
            sends: sends.collect(),
            skips: graph.skips,
        }
    }

    pub fn rounds(&self) -> usize {
        self.blocks - 1 + self.receives.len()
    }

    /// How far from the rank those are that it exchanges blocks with.
    pub fn distance(&self, round: usize) -> usize {
        self.skips[(round + self.left_out) % self.receives.len()]
    }

    pub fn taken(&self, round: usize) -> Option<usize> {
        self.block(&self.receives, round)
    }

    pub fn given(&self, round: usize) -> Option<usize> {
        self.block(&self.sends, round)
    }

    fn block(&self, of_phase: &[Option<Block>], round: usize) -> Option<usize> {
        if round >= self.rounds() {
            return None;
        }
        let (round, rounds) = (round + self.left_out, of_phase.len());
        let Block {
            round: sent,
            is_new,
        } = of_phase[round % rounds]?;
        let phase = (round / rounds + usize::from(is_new)).checked_sub(1)?;
        let number = (phase * rounds + sent).checked_sub(self.left_out)?;
        // Behind the last block the last one is sent, for those who lack it.
        Some(number.min(self.blocks - 1))
    }
}

struct Graph {
    skips: Vec<usize>,
}

impl Graph {
    fn new(ranks: usize) -> Graph {
        let rounds = levels(ranks);
        let skips = (0..=rounds).map(|round| ranks.div_ceil(1 << (rounds - round)));
        Graph {
            skips: skips.collect(),
        }
    }

    fn rounds(&self) -> usize {
        self.skips.len() - 1
    }

    /// The base of a rank that is not the root.
    fn base(&self, number: usize) -> usize {
        let mut rest = number;
        let fits = |skip: &usize| match rest.checked_sub(*skip) {
            None => false,
            Some(less) => {
                rest = less;
                less == 0
            }
        };
        self.skips
            .iter()
            .rposition(fits)
            .expect("the last skip is 1")
    }

    /// The block that a rank receives in each round of a phase.
    fn receives(&self, number: usize) -> Vec<Option<Block>> {
        let rounds = self.rounds();
        if number == 0 {
            return vec![None; rounds];
        }
        let own = self.base(number);
        // A bit for each base of which no block was taken yet.
        let mut left = ((1u64 << rounds) - 1) & !(1 << own);
        let of_round = |round: usize| {
            // How far the next skip, and this one, reach back.
            let [next, this] = [round + 1, round].map(|round| self.skips[round]);
            if this <= number && number < next {
                let block = Block {
                    round: own,
                    is_new: true,
                };
                return Some(block);
            }
            let ranks = self.skips[rounds];
            let end = (number + ranks - this) % ranks;
            let start = (number + ranks - next) % ranks;
            let base = self.greatest(start + 1..=end, rounds, left);
            let base = base.unwrap_or_else(|| self.base(start));
            left &= !(1 << base);
            Some(Block {
                round: base,
                is_new: false,
            })
        };
        (0..rounds).map(of_round).collect()
    }

    /// The greatest base that is left, of these ranks below a skip. In halves: the ranks below the skip before, and those that it is before them.
    fn greatest(&self, ranks: RangeInclusive<usize>, skip: usize, left: u64) -> Option<usize> {
        let (start, end) = (*ranks.start(), *ranks.end());
        let left = left & ((1 << skip) - 1);
        if start > end || left == 0 {
            return None;
        }
        if start <= 1 && end + 1 >= self.skips[skip] {
            return Some(left.ilog2() as usize);
        }
        let half = self.skips[skip - 1];
        if (start..=end).contains(&half) && left >> (skip - 1) == 1 {
            return Some(skip - 1);
        }
        let below = self.greatest(start..=end.min(half - 1), skip - 1, left);
        let above = match end > half {
            true => self.greatest(start.max(half + 1) - half..=end - half, skip - 1, left),
            false => None,
        };
        below.max(above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ranks' rounds, in step: what is sent is there, what is received is what was sent, and each block comes once.
    fn check(ranks: usize, blocks: usize) {
        let schedules: Vec<_> = (0..ranks)
            .map(|number| Schedule::new(ranks, blocks, number))
            .collect();
        let mut have = vec![vec![false; blocks]; ranks];
        have[0].fill(true);
        for round in 0..schedules[0].rounds() {
            let distance = schedules[0].distance(round);
            let mut come = Vec::new();
            for (number, schedule) in schedules.iter().enumerate() {
                let to = (number + distance) % ranks;
                let given = schedule.given(round);
                assert_eq!(
                    given,
                    schedules[to].taken(round),
                    "{ranks} ranks, {blocks} blocks: {number} to {to}"
                );
                come.extend(given.map(|given| (to, given)));
                assert!(
                    given.is_none_or(|given| have[number][given]),
                    "{ranks} ranks, {blocks} blocks: {number}"
                );
            }
            for (to, block) in come {
                assert!(
                    !have[to][block],
                    "{ranks} ranks, {blocks} blocks: {block} twice at {to}"
                );
                have[to][block] = true;
            }
        }
        assert!(
            have.iter().flatten().all(|&has| has),
            "{ranks} ranks, {blocks} blocks"
        );
    }

    #[test]
    fn each_block_comes_once_to_each_rank() {
        for ranks in 2..=66 {
            for blocks in [1, 2, 3, 5, 8, 13] {
                check(ranks, blocks);
            }
        }
        for ranks in [127, 129, 255, 300, 1000, 1025, 2047, 4097] {
            check(ranks, 7);
        }
    }

    #[test]
    fn rounds_are_as_few_as_can_be() {
        for (ranks, blocks, rounds) in [(2, 1, 1), (2, 9, 9), (16, 1, 4), (17, 1, 5), (1024, 8, 17)]
        {
            assert_eq!(Schedule::new(ranks, blocks, 1).rounds(), rounds);
        }
    }
}
