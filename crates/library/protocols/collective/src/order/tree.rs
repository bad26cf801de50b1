//! The order for who combines operands that come from one rank after the other, beginning with its own.
//!
//! The leaves of the tree of all ranks come in the order of the bits in which their numbers differ from the own one's: its own subtree's other
//! half, then that of the next greater subtree, and so on, so that a logarithm of partial results is all that waits. And of ranks
//! that do so at the same time no two look for the same other's operand.

use std::ops::Range;

use super::Folded;
use crate::Reduction;
use crate::memory::{Operand, Scratch};
use weft_memory::Memory;

/// Partial results. What two combine to is where the higher operand was: the last rank's is put where the result is to be.
pub(crate) struct Tree<'s, 'a> {
    /// Of as many elements as there are in a place.
    reduction: &'s Reduction<'a>,
    scratch: &'s Scratch,
    folded: Folded,
    /// The number of this rank's leaf.
    leaf: usize,
    result: Operand<'a>,
    /// None where all operands are missing.
    partials: Vec<Option<Partial<'a>>>,
    /// A bit for each place in scratch that is in use.
    used: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Partial<'a> {
    pub operand: Operand<'a>,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// A rank's operand, which stays as it is: the last rank's, or another's.
    Kept {
        is_last: bool,
    },
    Result,
    Scratch(u32),
}

impl<'s, 'a> Tree<'s, 'a> {
    /// How many operands there is to be room for in scratch: a partial result for each round, and what comes from two ranks.
    pub fn places(folded: Folded) -> usize {
        folded.rounds() as usize + 3
    }

    /// Of the rank's, whose result comes to where `result` is. `scratch` has [`places`](Self::places) of the reduction.
    pub fn new(
        (reduction, scratch): (&'s Reduction<'a>, &'s Scratch),
        (folded, rank): (Folded, usize),
        result: Operand<'a>,
    ) -> Tree<'s, 'a> {
        Tree {
            reduction,
            scratch,
            folded,
            leaf: folded.leaf(rank),
            result,
            partials: Vec::with_capacity(folded.rounds() as usize + 1),
            used: 0,
        }
    }

    pub fn leaves(&self) -> usize {
        self.folded.participants
    }

    /// Packed, of an operand.
    pub fn bytes(&self, elements: Range<usize>) -> Range<usize> {
        let size = self.reduction.element_bytes();
        elements.start * size..elements.end * size
    }

    /// The ranks of the leaf whose number differs from the own one's in these bits.
    pub fn ranks(&self, apart: usize) -> Range<usize> {
        self.folded.ranks(self.leaf ^ apart)
    }

    fn is_last(&self, rank: usize) -> bool {
        rank + 1 == self.folded.participants + self.folded.pairs
    }

    /// An operand of the rank's that stays as it is.
    pub fn kept(&self, rank: usize, operand: Operand<'a>) -> Partial<'a> {
        let place = Place::Kept {
            is_last: self.is_last(rank),
        };
        Partial { operand, place }
    }

    /// The rank's operand, packed elements that stay as they are.
    pub fn packed(&mut self, rank: usize, packed: &Memory) -> Partial<'a> {
        if self.reduction.is_dense() {
            return self.kept(rank, self.reduction.unpacked(packed, self.result));
        }
        let room = self.room(rank);
        self.reduction.unpacked(packed, room.operand);
        room
    }

    /// Room for an operand of the rank's.
    pub fn room(&mut self, rank: usize) -> Partial<'a> {
        self.room_for(self.is_last(rank))
    }

    fn room_for(&mut self, is_last: bool) -> Partial<'a> {
        if is_last {
            let (operand, place) = (self.result, Place::Result);
            return Partial { operand, place };
        }
        let place = self.used.trailing_ones();
        self.used |= 1 << place;
        let room = self.reduction.in_scratch(self.scratch, place as usize);
        Partial {
            operand: room.part(0..self.result.count()),
            place: Place::Scratch(place),
        }
    }

    /// Puts in the operands of the next leaf, whose number differs from this rank's leaf in these bits. Behind the last one the result is there.
    pub fn put(&mut self, [lower, higher]: [Option<Partial<'a>>; 2], apart: usize) {
        let mut partial = self.both(lower, higher);
        for round in 0..apart.trailing_ones() {
            let own = self.partials.pop().flatten();
            partial = match self.leaf >> round & 1 {
                0 => self.both(own, partial),
                _ => self.both(partial, own),
            };
        }
        self.partials.push(partial);
        if let (true, Some(all)) = (apart + 1 == self.folded.participants, partial) {
            all.operand.copy_to(self.result);
        }
    }

    fn both(
        &mut self,
        lower: Option<Partial<'a>>,
        higher: Option<Partial<'a>>,
    ) -> Option<Partial<'a>> {
        let (Some(lower), Some(mut higher)) = (lower, higher) else {
            return lower.or(higher);
        };
        if let Place::Kept { is_last } = higher.place {
            let room = self.room_for(is_last);
            higher.operand.copy_to(room.operand);
            higher = room;
        }
        self.reduction.combine(lower.operand, higher.operand);
        if let Place::Scratch(place) = lower.place {
            self.used &= !(1 << place);
        }
        Some(higher)
    }
}
