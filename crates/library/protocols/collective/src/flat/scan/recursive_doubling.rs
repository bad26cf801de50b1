//! Recursive doubling: ranks whose numbers differ in one bit exchange the results of their groups so far; who
//! has the higher number takes the other group into its result.

use super::ScanKind;
use crate::cost::{Work, combined, doublings, exchange};
use crate::flat::reduce::Accumulator;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    kind: ScanKind,
) {
    let (rank, output) = (channel.rank(), reduction.output());
    let Some(scratch) = channel.room(reduction.scratch(2)) else {
        return;
    };
    let group = reduction.in_scratch(&scratch, 0);
    let spare = reduction.in_scratch(&scratch, 1);
    reduction.input().copy_to(group);
    let mut group = Accumulator::new(reduction, group, spare);
    // Whether the output holds a result to combine with.
    let mut begun = kind == ScanKind::Inclusive;
    if begun {
        reduction.input().copy_to(output);
    }
    let mut bit = 1;
    while bit < channel.size() {
        let peer = rank ^ bit;
        if peer < channel.size() {
            channel
                .exchange(peer, group.current.memory(), peer, group.spare.memory())
                .await;
            if peer > rank {
                group.take_higher();
            } else {
                if begun {
                    reduction.combine(group.spare, output);
                } else {
                    group.spare.copy_to(output);
                    begun = true;
                }
                group.take_lower();
            }
        }
        bit *= 2;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(doublings(ranks) * (exchange(bytes) + combined(bytes)))
}
