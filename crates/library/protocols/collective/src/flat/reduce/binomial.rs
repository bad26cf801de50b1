//! A binomial tree towards the root. Subtrees are ranges of ranks, so the order is kept; an operation that is
//! not commutative is reduced to rank 0, where the ranges begin, and sent from there.

use super::Accumulator;
use crate::cost::{Work, combined, doublings, hop, packed};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) {
    let ranks = channel.size();
    let top = if reduction.commutative() { root } else { 0 };
    let relative = (channel.rank() + ranks - top) % ranks;
    let Some(scratch) = channel.room(reduction.scratch(2)) else {
        return;
    };
    let spare = reduction.in_scratch(&scratch, 0);
    // The first operand is not written to, as `take_lower` never happens here: it may be the input.
    let mut partial = Accumulator::new(reduction, reduction.input(), spare);
    let mut bit = 1;
    while bit < ranks && relative & bit == 0 {
        if relative + bit < ranks {
            channel
                .wait(channel.receive(channel.after(bit), partial.spare.memory()))
                .await;
            partial.take_higher();
            if bit == 1 {
                partial.spare = reduction.in_scratch(&scratch, 1);
            }
        }
        bit *= 2;
    }
    if relative != 0 {
        channel
            .wait(channel.send(channel.before(bit), partial.current.memory()))
            .await;
    }

    if top == root {
        if channel.rank() == root {
            partial.current.copy_to(reduction.output());
        }
    } else if channel.rank() == top {
        channel
            .wait(channel.send(root, partial.current.memory()))
            .await;
    } else if channel.rank() == root {
        channel
            .wait(channel.receive(top, reduction.output().memory()))
            .await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let each = hop(bytes) + combined(bytes);
    Work::rooted(doublings(ranks) * each + packed(bytes), each)
}
