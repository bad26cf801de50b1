//! The order in which a reduction combines its operands: the same by every algorithm and for every kind of call, so that the
//! same operands give the same bits, whatever the ranks' cores are and however many calls there were before.
//!
//! Of all ranks the operands combine as a balanced binary tree whose leaves are the ranks in order. Where their number is not a power
//! of two, pairs of the first ranks are a leaf each ([`Folded`]). That is the order of recursive doubling and halving; who combines alone
//! keeps up to a logarithm of partial results ([`Partials`], [`Tree`]). Hosts that have as many ranks each, a power of two, one after the other, are
//! subtrees: there a reduction within hosts and then between them has the same order.
//!
//! Of the ranks before one, as in scans, the operands combine in the trees of the set bits of their number, the last and smallest first: what recursive
//! doubling gives as well.

mod tree;

pub(crate) use tree::Tree;

use std::ops::Range;

use crate::Reduction;
use crate::cost::levels;
use crate::memory::{Operand, Scratch};

/// The leaves of the tree of all ranks: the greatest power of two that fits. Of the first ranks, as many pairs as there are ranks too
/// many are one leaf together.
#[derive(Clone, Copy)]
pub(crate) struct Folded {
    pub participants: usize,
    pairs: usize,
}

impl Folded {
    pub fn new(ranks: usize) -> Folded {
        let participants = 1 << ranks.ilog2();
        Folded {
            participants,
            pairs: ranks - participants,
        }
    }

    /// How often the participants can be halved.
    pub fn rounds(&self) -> u32 {
        self.participants.ilog2()
    }

    /// The number of the leaf that a rank's operand is in.
    pub fn leaf(&self, rank: usize) -> usize {
        match rank < 2 * self.pairs {
            true => rank / 2,
            false => rank - self.pairs,
        }
    }

    /// The ranks of a leaf.
    pub fn ranks(&self, number: usize) -> Range<usize> {
        match number < self.pairs {
            true => 2 * number..2 * number + 2,
            false => number + self.pairs..number + self.pairs + 1,
        }
    }

    /// This rank's number among the participants; none if it gives its operand to the rank after it.
    pub fn number(&self, rank: usize) -> Option<usize> {
        let number = self.leaf(rank);
        (self.rank(number) == rank).then_some(number)
    }

    /// The rank of a participant.
    pub fn rank(&self, number: usize) -> usize {
        self.ranks(number).end - 1
    }

    /// The rank whose operand this participant holds beside its own.
    pub fn folded(&self, number: usize) -> Option<usize> {
        (number < self.pairs).then_some(2 * number)
    }
}

/// The order for who combines operands alone, taking them from the last rank down.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// Of all ranks.
    All(Folded),
    /// Of the ranks up to this one.
    UpTo(usize),
    /// Of the ranks before this one.
    Before(usize),
}

impl Order {
    pub fn all(ranks: usize) -> Order {
        Order::All(Folded::new(ranks))
    }

    /// How many ranks have an operand.
    fn ranks(self) -> usize {
        match self {
            Order::All(folded) => folded.participants + folded.pairs,
            Order::UpTo(last) => last + 1,
            Order::Before(end) => end,
        }
    }

    /// The ranks from the last one down, each with how many partial results its operand completes.
    pub fn last_first(self) -> impl Iterator<Item = (usize, u32)> {
        let ranks = (0..self.ranks()).rev();
        ranks.map(move |rank| (rank, self.completed_by(rank)))
    }

    /// How many times the operand of a rank, and what comes of it, is combined with what came before.
    fn completed_by(self, rank: usize) -> u32 {
        match self {
            Order::All(folded) => {
                let number = folded.leaf(rank);
                let leaf = folded.ranks(number);
                let above = match number {
                    0 => folded.rounds(),
                    _ => number.trailing_zeros(),
                };
                match rank == leaf.start {
                    true => above + (leaf.len() as u32 - 1),
                    false => 0,
                }
            }
            Order::UpTo(last) if rank == last => 0,
            Order::UpTo(end) | Order::Before(end) => {
                // The tree that it is in: of the highest bit in which it differs from what comes behind all trees.
                let tree = (rank ^ end).ilog2();
                let is_first_of_tree = rank.trailing_zeros() >= tree;
                let is_last_tree = matches!(self, Order::Before(_)) && tree == end.trailing_zeros();
                match is_first_of_tree {
                    true => tree + u32::from(!is_last_tree),
                    false => rank.trailing_zeros(),
                }
            }
        }
    }

    /// For how many operands there is to be room in scratch: one that is not yet combined, and the partial results but for the first,
    /// which is where the result will be.
    pub fn places(self) -> usize {
        levels(self.ranks().max(2)) as usize
    }
}

/// Operands that are taken in from the last rank down, and what they have come to so far.
pub(crate) struct Partials<'s, 'a> {
    /// Of as many elements as there are in a place.
    reduction: &'s Reduction<'a>,
    scratch: &'s Scratch,
    result: Operand<'a>,
    /// How many partial results there are.
    count: u32,
    /// A bit for each: whether its operands were all missing.
    missing: u64,
}

impl<'s, 'a> Partials<'s, 'a> {
    /// Of no operand so far. `scratch` has [`Order::places`] of the reduction; the result comes to where `result` is.
    pub fn new(
        reduction: &'s Reduction<'a>,
        scratch: &'s Scratch,
        result: Operand<'a>,
    ) -> Partials<'s, 'a> {
        Partials {
            reduction,
            scratch,
            result,
            count: 0,
            missing: 0,
        }
    }

    /// Where the next operand, which completes so many partial results, may be put before it is taken in.
    pub fn room(&self, completes: u32) -> Operand<'a> {
        match completes {
            0 => self.place(self.count),
            _ => self.in_scratch(0),
        }
    }

    fn place(&self, number: u32) -> Operand<'a> {
        match number {
            0 => self.result,
            _ => self.in_scratch(number as usize),
        }
    }

    fn in_scratch(&self, index: usize) -> Operand<'a> {
        let place = self.reduction.in_scratch(self.scratch, index);
        place.part(0..self.result.count())
    }

    /// Takes in the next operand, wherever it is, or notes that it is missing.
    pub fn take(&mut self, operand: Option<Operand<'_>>, completes: u32) {
        if completes == 0 {
            operand.inspect(|operand| operand.copy_to(self.place(self.count)));
            self.missing |= u64::from(operand.is_none()) << self.count;
            self.count += 1;
            return;
        }
        self.combine(operand);
        for _ in 1..completes {
            self.count -= 1;
            let is_there = self.missing >> self.count & 1 == 0;
            self.missing &= !(1 << self.count);
            self.combine(is_there.then(|| self.place(self.count)));
        }
    }

    /// Combines what is of lower ranks with the last partial result.
    fn combine(&mut self, lower: Option<Operand<'_>>) {
        let Some(lower) = lower else { return };
        let last = self.count - 1;
        match self.missing >> last & 1 {
            0 => self.reduction.combine(lower, self.place(last)),
            _ => lower.copy_to(self.place(last)),
        }
        self.missing &= !(1 << last);
    }
}
