//! Reduce-scatter by recursive halving, then a gather of the shares (Rabenseifner 2004), for long vectors.

use super::halving::{self, Halves};
use crate::cost::{Work, combined, exchange, halvings, hop};
use crate::order::Folded;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) {
    let folded = Folded::new(channel.size());
    let rank = channel.rank();
    // The participant that collects the result: the root, or the one that holds the root's operand.
    let collector = folded.leaf(root);
    let Some(number) = folded.number(rank) else {
        channel
            .wait(channel.send(rank + 1, reduction.input().memory()))
            .await;
        if rank == root {
            channel
                .wait(channel.receive(rank + 1, reduction.output().memory()))
                .await;
        }
        return;
    };
    let Some(scratch) = channel.room(reduction.scratch(2)) else {
        return;
    };
    let spare = reduction.in_scratch(&scratch, 1);
    let partial = if rank == root {
        reduction.output()
    } else {
        reduction.in_scratch(&scratch, 0)
    };
    halving::run(channel, reduction, &folded, number, partial, spare).await;

    for round in (0..folded.rounds()).rev() {
        let peer = folded.rank(number ^ 1 << round);
        let Halves { kept, given } = Halves::new(reduction.count(), number, round);
        if (number ^ collector) >> round & 1 == 1 {
            channel
                .wait(channel.send(peer, partial.part(kept).memory()))
                .await;
            break;
        }
        channel
            .wait(channel.receive(peer, partial.part(given).memory()))
            .await;
    }
    if number == collector && rank != root {
        channel.wait(channel.send(root, partial.memory())).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let halves = halvings(ranks).map(|part| part * bytes);
    let each = halves.map(|half| exchange(half) + combined(half) + hop(half));
    Work::alike(halving::folding(ranks, bytes) + each.sum())
}
