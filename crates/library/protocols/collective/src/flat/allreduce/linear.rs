//! Through rank 0, which hears from everyone, combines and answers everyone.

use crate::cost::Work;
use crate::flat::{bcast, reduce};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, reduction: &Reduction<'_>) {
    reduce::linear::run(channel, reduction, 0).await;
    bcast::linear::run(channel, &reduction.output().memory(), 0).await;
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    reduce::linear::work(ranks, bytes) + bcast::linear::work(ranks, bytes)
}
