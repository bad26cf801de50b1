//! Reduce-scatter by recursive halving, then allgather by recursive doubling (Rabenseifner 2004): each rank
//! moves the vector about twice, however many ranks there are.

use crate::cost::{Counts, Work, combined, exchange, halvings, hop};
use crate::flat::reduce::halving::{self, Halves, folded_away};
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
    halving::run(channel, reduction, &folded, number, output, spare).await;

    for round in (0..folded.rounds()).rev() {
        let peer = folded.rank(number ^ 1 << round);
        let Halves { kept, given } = Halves::new(reduction.count(), number, round);
        let (own, theirs) = (output.part(kept), output.part(given));
        channel
            .exchange(peer, own.memory(), peer, theirs.memory())
            .await;
    }
    if let Some(lower) = folded.folded(number) {
        channel.wait(channel.send(lower, output.memory())).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let halves = halvings(ranks).map(|part| part * bytes);
    let each = halves.map(|half| 2.0 * exchange(half) + combined(half));
    let back = match ranks.is_power_of_two() {
        true => Counts::NOTHING,
        false => hop(bytes),
    };
    Work::alike(halving::folding(ranks, bytes) + each.sum() + back)
}
