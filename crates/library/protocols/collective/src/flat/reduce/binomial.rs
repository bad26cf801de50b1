//! A binomial tree towards the root: in each round ranks whose numbers differ in one bit bring two subtrees of the order together.

use super::Accumulator;
use crate::cost::{Work, combined, doublings, hop, packed};
use crate::order::Folded;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) {
    let folded = Folded::new(channel.size());
    let (rank, top) = (channel.rank(), folded.leaf(root));
    // Of two ranks that are a leaf together one goes up the tree.
    let climber = |number| match number == top {
        true => root,
        false => folded.rank(number),
    };
    let number = folded.leaf(rank);
    if climber(number) != rank {
        let operand = reduction.input().memory();
        return channel.wait(channel.send(climber(number), operand)).await;
    }
    let Some(scratch) = channel.room(reduction.scratch(2)) else {
        return;
    };
    let second = reduction.in_scratch(&scratch, 1);
    // At the root the result comes to the output at once, if it need not move from there.
    let instead = if rank == root {
        reduction.output()
    } else {
        second
    };
    let places = [reduction.in_scratch(&scratch, 0), instead];
    let mut partial = Accumulator::keeping(reduction, reduction.input(), places);
    for of_leaf in folded.ranks(number).filter(|&other| other != rank) {
        take(channel, &mut partial, of_leaf).await;
    }
    for round in 0..folded.rounds() {
        let peer = climber(number ^ 1 << round);
        if (number ^ top) >> round & 1 == 1 {
            let operand = partial.current.memory();
            return channel.wait(channel.send(peer, operand)).await;
        }
        take(channel, &mut partial, peer).await;
    }
    partial.current.copy_to(reduction.output());
}

/// Takes in what a rank sends.
async fn take<P: PointToPoint>(
    channel: &Channel<'_, P>,
    partial: &mut Accumulator<'_>,
    from: usize,
) {
    let incoming = channel.receive(from, partial.spare.memory());
    channel.wait(incoming).await;
    match from < channel.rank() {
        true => partial.take_lower(),
        false => partial.take_higher(),
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let each = hop(bytes) + combined(bytes);
    Work::rooted(doublings(ranks) * each + packed(bytes), each)
}
