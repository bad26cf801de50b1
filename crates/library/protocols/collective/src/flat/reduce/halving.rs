//! Reduce-scatter by recursive halving (Rabenseifner 2004), the first half of the algorithms for long
//! reductions.
//!
//! Neighbouring ranks come together first, so that the operands combined are always those of two adjacent
//! ranges of ranks, and the order is kept.

use crate::cost::{Counts, combined, hop};
use crate::memory::Operand;
use crate::order::Folded;
use crate::{Channel, PointToPoint, Reduction};
use std::ops::Range;

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
        let is_lower = number >> round & 1 == 0;
        // What the lower of two keeps grows where the other's comes to, and what the higher keeps where its own is, which it may write to.
        let is_input = !own.is(partial) && !own.is(spare);
        let into = match own.is(partial) || (is_input && !is_lower) {
            true => spare,
            false => partial,
        };
        let theirs = into.part(kept.clone());
        let outgoing = own.part(given).memory();
        channel
            .exchange(peer, outgoing, peer, theirs.memory())
            .await;
        let operand = own.part(kept.clone());
        if is_lower {
            reduction.combine(operand, theirs);
            own = into;
        } else {
            if is_input {
                own = partial;
                operand.copy_to(own.part(kept.clone()));
            }
            reduction.combine(theirs, own.part(kept));
        }
    }
    let Halves { kept, .. } = Halves::new(reduction.count(), number, folded.rounds() - 1);
    own.part(kept.clone()).copy_to(partial.part(kept));
}
