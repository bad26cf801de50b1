//! Recursive halving (Rabenseifner 2004): as many rounds as the number of ranks has bits, and each rank moves its
//! operand about once.
//!
//! Neighbouring ranks come together first, to keep the order. So of the shares that two ranks hold together the lower
//! one keeps the first half in all rounds but not of the shares in rank order: these are arranged by the bits of the
//! rank in reverse.

use super::Shares;
use crate::cost::{Work, combined, exchange, halvings, packed};
use crate::flat::reduce::halving;
use crate::flat::reduce::halving::folded_away;
use crate::order::Folded;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let rank = channel.rank();
    let folded = Folded::new(channel.size());
    let output = reduction.output().part(0..shares.range(rank).len());
    let Some(number) = folded.number(rank) else {
        return folded_away(channel, reduction.input(), output).await;
    };
    let Some(scratch) = channel.room(reduction.scratch(2)) else {
        return;
    };
    let spare = reduction.in_scratch(&scratch, 0);
    let partial = reduction.in_scratch(&scratch, 1);
    reduction.input().copy_to(spare);
    if let Some(lower) = folded.folded(number) {
        channel.wait(channel.receive(lower, partial.memory())).await;
        reduction.combine(partial, spare);
    }

    // A participant's shares, of one rank or two, lie together; `bounds` are those of the places in their order.
    let rounds = folded.rounds();
    let at_place = |place: usize| match rounds {
        0 => 0,
        _ => place.reverse_bits() >> (usize::BITS - rounds),
    };
    let mut bounds = vec![0];
    let mut end = 0;
    for place in 0..folded.participants {
        for held in held(&folded, at_place(place)) {
            let share = shares.range(held);
            let start = end;
            end += share.len();
            spare.part(share).copy_to(partial.part(start..end));
        }
        bounds.push(end);
    }

    let (mut low, mut high) = (0, folded.participants);
    for round in 0..rounds {
        let peer = folded.rank(number ^ 1 << round);
        let middle = (low + high) / 2;
        let is_lower = number >> round & 1 == 0;
        let (kept, given) = match is_lower {
            true => (low..middle, middle..high),
            false => (middle..high, low..middle),
        };
        (low, high) = (kept.start, kept.end);
        let kept = bounds[kept.start]..bounds[kept.end];
        let given = bounds[given.start]..bounds[given.end];
        let (into, own) = (spare.part(kept.clone()), partial.part(kept));
        channel
            .exchange(peer, partial.part(given).memory(), peer, into.memory())
            .await;
        if is_lower {
            reduction.combine(own, into);
            into.copy_to(own);
        } else {
            reduction.combine(into, own);
        }
    }

    let mut start = bounds[low];
    for held in held(&folded, number) {
        let share = partial.part(start..start + shares.range(held).len());
        start += shares.range(held).len();
        if held == rank {
            share.copy_to(output);
        } else {
            channel.wait(channel.send(held, share.memory())).await;
        }
    }
}

/// The ranks whose shares a participant gets, in order.
fn held(folded: &Folded, number: usize) -> impl Iterator<Item = usize> {
    let lower = folded.folded(number);
    [lower, Some(folded.rank(number))].into_iter().flatten()
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let halves = halvings(ranks).map(|part| part * bytes);
    let each = halves.map(|half| exchange(half) + combined(half));
    Work::alike(halving::folding(ranks, bytes) + each.sum() + packed(bytes))
}
