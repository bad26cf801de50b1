//! Recursive doubling: in each round two adjacent groups of ranks exchange their partial results. Both sides
//! combine them in rank order, so they hold the same bits.

use crate::cost::{Work, combined, doublings, exchange};
use crate::flat::reduce::Accumulator;
use crate::flat::reduce::halving::folded_away;
use crate::order::Folded;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, reduction: &Reduction<'_>) {
    let folded = Folded::new(channel.size());
    let (rank, output) = (channel.rank(), reduction.output());
    let Some(number) = folded.number(rank) else {
        return folded_away(channel, reduction.input(), output).await;
    };
    let Some(scratch) = channel.room(reduction.scratch(1)) else {
        return;
    };
    let spare = reduction.in_scratch(&scratch, 0);
    reduction.input().copy_to(output);
    let mut partial = Accumulator::new(reduction, output, spare);
    if let Some(lower) = folded.folded(number) {
        channel
            .wait(channel.receive(lower, partial.spare.memory()))
            .await;
        partial.take_lower();
    }
    let mut bit = 1;
    while bit < folded.participants {
        let peer = folded.rank(number ^ bit);
        channel
            .exchange(peer, partial.current.memory(), peer, partial.spare.memory())
            .await;
        if number & bit != 0 {
            partial.take_lower();
        } else {
            partial.take_higher();
        }
        bit *= 2;
    }
    partial.current.copy_to(output);
    if let Some(lower) = folded.folded(number) {
        channel.wait(channel.send(lower, output.memory())).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(doublings(ranks) * (exchange(bytes) + combined(bytes)))
}
