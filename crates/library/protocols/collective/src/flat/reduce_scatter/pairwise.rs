//! Each rank sends every other its share of the operand, at growing distances around the ring, and combines what
//! comes for its own: for long vectors.

use crate::cost::{Work, combined, others, pass};
use std::ops::Range;

use super::Shares;
use crate::segments::{self, Segments};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    if reduction.commutative() && !reduction.is_in_place() {
        in_any_order(channel, reduction, shares).await;
    } else {
        in_rank_order(channel, reduction, shares).await;
    }
}

/// The result grows in the output, from what comes first on. There is room for a segment of what comes then.
async fn in_any_order<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let own = reduction.share(shares.range(channel.rank()));
    let (input, result) = (own.input(), own.output());
    let longest = match channel.size() {
        2 => 0,
        _ => Segments::of(reduction, own.count()).longest(),
    };
    let room = own.share(0..longest);
    let Some(scratch) = channel.room(room.scratch(1)) else {
        return;
    };
    for distance in 1..channel.size() {
        let (to, from) = (channel.after(distance), channel.before(distance));
        let theirs = reduction.input().part(shares.range(to));
        let is_first = distance == 1;
        let into = |elements: Range<usize>| match is_first {
            true => result.part(elements),
            false => room.in_scratch(&scratch, 0).part(0..elements.len()),
        };
        let combine = |elements: Range<usize>| {
            let operand = match is_first {
                true => input.part(elements.clone()),
                false => into(elements.clone()),
            };
            own.combine(operand, result.part(elements));
        };
        let (outgoing, incoming) = ((to, theirs), (from, own.count()));
        segments::exchange(channel, reduction, outgoing, incoming, into, combine).await;
    }
}

/// With room for three shares. What comes is of the ranks below from the nearest down, and then of those above from the last down, so that two
/// partial results grow downwards and keep the order.
async fn in_rank_order<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let rank = channel.rank();
    let own = reduction.share(shares.range(rank));
    let Some(scratch) = channel.room(own.scratch(3)) else {
        return;
    };
    let below = own.in_scratch(&scratch, 0);
    let above = own.in_scratch(&scratch, 1);
    let spare = own.in_scratch(&scratch, 2);
    own.input().copy_to(below);
    for distance in 1..channel.size() {
        let (to, from) = (channel.after(distance), channel.before(distance));
        let first_above = distance == rank + 1;
        let into = if first_above { above } else { spare };
        let incoming = match own.count() {
            0 => None,
            _ => channel.receive(from, into.memory()),
        };
        let theirs = reduction.input().part(shares.range(to)).memory();
        let outgoing = match theirs.bytes {
            0 => None,
            _ => channel.send(to, theirs),
        };
        channel.wait_all(&[incoming, outgoing]).await;
        if from < rank {
            own.combine(spare, below);
        } else if !first_above {
            own.combine(spare, above);
        }
    }
    let mut result = below;
    if rank + 1 < channel.size() {
        own.combine(below, above);
        result = above;
    }
    // Not before: in place, the output holds operands until they are sent.
    result.copy_to(own.output());
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let share = bytes / ranks as f64;
    Work::alike(others(ranks) * (pass(share) + combined(share)))
}
