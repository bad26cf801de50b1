//! Each rank sends every other its share of the operand, and combines what comes for its own ([`Tree`]): for long vectors.

use std::ops::Range;

use super::Shares;
use crate::cost::{Work, combined, others, pass};
use crate::memory::{Operand, Scratch};
use crate::order::{Folded, Tree};
use crate::segments::Segments;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let own = reduction.share(shares.range(channel.rank()));
    let segments = |rank: usize| Segments::of(reduction, shares.of(rank));
    let longest = own.share(0..segments(channel.rank()).longest());
    // In place, the output holds operands until they are sent.
    let kept = match reduction.is_in_place() {
        true => own.scratch(1),
        false => Scratch::new(0),
    };
    let Some(kept) = channel.room(kept) else {
        return;
    };
    let result = match reduction.is_in_place() {
        true => own.in_scratch(&kept, 0),
        false => own.output(),
    };
    let folded = Folded::new(channel.size());
    let Some(scratch) = channel.room(longest.scratch(Tree::places(folded))) else {
        return;
    };
    let most = (0..channel.size()).map(|rank| segments(rank).len()).max();
    for index in 0..most.unwrap_or(0) {
        let elements = segments(channel.rank()).range(index);
        let given = |to: usize| {
            let Range { start, end } = segments(to).range(index);
            let before = shares.range(to).start;
            reduction.input().part(before + start..before + end)
        };
        let result = result.part(elements);
        let mut tree = Tree::new((&longest, &scratch), (folded, channel.rank()), result);
        for apart in 0..folded.participants {
            meet(channel, apart, &given, &mut tree).await;
        }
    }
    result.part(0..own.count()).copy_to(own.output());
}

/// Exchanges operands with the ranks of the leaf whose number differs from this rank's in these bits.
async fn meet<'a, P: PointToPoint>(
    channel: &Channel<'_, P>,
    apart: usize,
    given: &impl Fn(usize) -> Operand<'a>,
    tree: &mut Tree<'_, 'a>,
) {
    let rank = channel.rank();
    let mut leaf = [None; 2];
    let mut requests = [None; 4];
    for (index, peer) in tree.ranks(apart).enumerate() {
        if peer == rank {
            leaf[index] = Some(tree.kept(rank, given(rank)));
            continue;
        }
        let incoming = tree.room(peer);
        leaf[index] = Some(incoming);
        let (incoming, outgoing) = (incoming.operand.memory(), given(peer).memory());
        if incoming.bytes > 0 {
            requests[index] = channel.receive(peer, incoming);
        }
        if outgoing.bytes > 0 {
            requests[2 + index] = channel.send(peer, outgoing);
        }
    }
    channel.wait_all(&requests).await;
    tree.put(leaf, apart);
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let share = bytes / ranks as f64;
    Work::alike(others(ranks) * (pass(share) + combined(share)))
}
