//! Everyone posts its operand, and rank 0 combines them and posts the result: piece after piece, while others post the next.

use crate::cost::{Counts, Work, looks, others, step};
use crate::flat::{bcast, reduce};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
) -> Option<()> {
    reduce::shared::run(channel, reduction, 0).await?;
    bcast::through_board(channel, &reduction.output().memory(), 0).await
}

/// The work of its ranks. Rank 0 is as far as the others, and so waits for each operand.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let waits = Work::rooted(step() + looks(others(ranks)), Counts::NOTHING);
    reduce::shared::work(ranks, bytes) + waits + bcast::shared::work(ranks, bytes)
}
