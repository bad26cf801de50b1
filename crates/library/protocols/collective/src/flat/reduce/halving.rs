//! Reduce-scatter by recursive halving (Rabenseifner 2004), the first half of the algorithms for long
//! reductions.
//!
//! Neighbouring ranks come together first, so that the operands combined are always those of two adjacent
//! ranges of ranks, and the order is kept.

use crate::cost::{Counts, combined, hop};
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

    /// How often the participants can be halved.
    pub fn rounds(&self) -> u32 {
        self.participants.ilog2()
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

/// The part of a rank that does not take part: the rank after it has its operand, and sends it the result.
pub(crate) async fn folded_away<P: PointToPoint>(
    channel: &Channel<'_, P>,
    operand: Operand<'_>,
    result: Operand<'_>,
) {
    let next = channel.rank() + 1;
    channel.wait(channel.send(next, operand.memory())).await;
    channel.wait(channel.receive(next, result.memory())).await;
}

/// What a participant does for the rank that is folded away, where there is one.
pub(crate) fn folding(ranks: usize, bytes: f64) -> Counts {
    match ranks.is_power_of_two() {
        true => Counts::NOTHING,
        false => hop(bytes) + combined(bytes),
    }
}

/// One halving of a participant's elements: the half it keeps, and the half it gives to its peer.
pub(crate) struct Halves {
    pub kept: Range<usize>,
    pub given: Range<usize>,
}

impl Halves {
    /// The halves of `count` elements in round `round` of participant `number`.
    pub fn new(count: usize, number: usize, round: u32) -> Halves {
        let mut halves = Halves {
            kept: 0..count,
            given: 0..0,
        };
        for round in 0..=round {
            let Range { start, end } = halves.kept;
            let middle = start + (end - start) / 2;
            let (low, high) = (start..middle, middle..end);
            let (kept, given) = if number >> round & 1 == 0 {
                (low, high)
            } else {
                (high, low)
            };
            halves = Halves { kept, given };
        }
        halves
    }
}

/// Reduces so that each participant's `partial`, whatever it held, ends with its share of the result, what it keeps
/// in the last round. Its operand is the reduction's input, which may be in the same place.
pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    folded: &Folded,
    number: usize,
    partial: Operand<'_>,
    spare: Operand<'_>,
) {
    // Where this participant's operand is. It is copied only where it cannot be combined from where it lies.
    let mut own = reduction.input();
    if let Some(lower) = folded.folded(number) {
        own.copy_to(partial);
        own = partial;
        channel.wait(channel.receive(lower, spare.memory())).await;
        reduction.combine(spare, partial);
    }
    for round in 0..folded.rounds() {
        let peer = folded.rank(number ^ 1 << round);
        let Halves { kept, given } = Halves::new(reduction.count(), number, round);
        let goes_first = number >> round & 1 == 0 || reduction.commutative();
        let (operand, result) = (own.part(kept.clone()), partial.part(kept.clone()));
        let into = if goes_first && !own.is(partial) {
            result
        } else {
            spare.part(kept)
        };
        channel
            .exchange(peer, own.part(given).memory(), peer, into.memory())
            .await;
        if goes_first && reduction.commutative() && own.is(partial) {
            reduction.combine(into, result);
        } else if goes_first {
            reduction.combine(operand, into);
            into.copy_to(result);
        } else {
            operand.copy_to(result);
            reduction.combine(into, result);
        }
        own = partial;
    }
}
