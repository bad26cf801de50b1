//! Reduce-scatter by recursive halving (Rabenseifner 2004), the first half of the algorithms for long
//! reductions.
//!
//! Neighbouring ranks come together first, so that the operands combined are always those of two adjacent
//! ranges of ranks, and the order is kept.

use crate::memory::Operand;
use crate::{Channel, PointToPoint, Reduction};
use std::ops::Range;

/// The ranks that take part in the halving: the greatest power of two that fits. Of the first ranks, as many
/// pairs as there are ranks too many send one of two by its operand.
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

    /// This rank's number among the participants; none if it gives its operand to the rank after it.
    pub fn number(&self, rank: usize) -> Option<usize> {
        if rank >= 2 * self.pairs {
            Some(rank - self.pairs)
        } else {
            (rank % 2 == 1).then_some(rank / 2)
        }
    }

    /// The rank of a participant.
    pub fn rank(&self, number: usize) -> usize {
        if number < self.pairs {
            2 * number + 1
        } else {
            number + self.pairs
        }
    }

    /// The rank whose operand this participant holds beside its own.
    pub fn folded(&self, number: usize) -> Option<usize> {
        (number < self.pairs).then_some(2 * number)
    }
}

/// The elements a participant holds before each halving, from all of them on.
pub(crate) type Halves = [Range<usize>; usize::BITS as usize + 1];

/// The elements kept by participant `number`, and those given away, when `elements` are halved.
pub(crate) fn halve(
    elements: &Range<usize>,
    number: usize,
    bit: usize,
) -> (Range<usize>, Range<usize>) {
    let middle = elements.start + elements.len() / 2;
    let (low, high) = (elements.start..middle, middle..elements.end);
    if number & bit == 0 {
        (low, high)
    } else {
        (high, low)
    }
}

/// Reduces so that each participant's `partial`, which holds its operand at first, ends with its share of the
/// result. Says what the participant held before each halving.
pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    folded: &Folded,
    number: usize,
    partial: Operand<'_>,
    spare: Operand<'_>,
) -> Halves {
    if let Some(lower) = folded.folded(number) {
        channel.wait(channel.receive(lower, spare.memory())).await;
        reduction.combine(spare, partial);
    }
    let mut held = [const { 0..0 }; usize::BITS as usize + 1];
    held[0] = 0..reduction.count();
    let mut bit = 1;
    let mut round = 0;
    while bit < folded.participants {
        let peer = folded.rank(number ^ bit);
        let (kept, given) = halve(&held[round], number, bit);
        let (into, own) = (spare.part(kept.clone()), partial.part(kept.clone()));
        channel
            .exchange(peer, partial.part(given).memory(), peer, into.memory())
            .await;
        if number & bit != 0 || reduction.commutative() {
            reduction.combine(into, own);
        } else {
            reduction.combine(own, into);
            into.copy_to(own);
        }
        round += 1;
        held[round] = kept;
        bit *= 2;
    }
    held
}
