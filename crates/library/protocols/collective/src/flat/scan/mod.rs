//! MPI_Scan and MPI_Exscan (MPI-5.0 §6.11).

mod kind;
mod recursive_doubling;
mod shared;

pub use kind::ScanKind;

use crate::select;
use crate::{Channel, PointToPoint, Reduction};

algorithms! {
    RecursiveDoubling = recursive_doubling: Nothing,
    Shared = shared: Board,
}

/// Reduces the inputs of the ranks up to this one into its output.
pub async fn scan<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
) -> Result<(), P::Error> {
    run(
        channel,
        reduction,
        ScanKind::Inclusive,
        selected(channel, &reduction),
    )
    .await
}

/// Reduces the inputs of the ranks before this one into its output; rank 0's is left alone.
pub async fn exscan<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
) -> Result<(), P::Error> {
    run(
        channel,
        reduction,
        ScanKind::Exclusive,
        selected(channel, &reduction),
    )
    .await
}

fn selected<P: PointToPoint>(channel: &Channel<'_, P>, reduction: &Reduction<'_>) -> Algorithm {
    select::flat::scan(channel.call_of(reduction))
}

/// A scan by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    kind: ScanKind,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if reduction.bytes() > 0 {
        match algorithm {
            Algorithm::Shared => shared::run(channel, &reduction, kind).await.unwrap_or(()),
            Algorithm::RecursiveDoubling => {
                recursive_doubling::run(channel, &reduction, kind).await;
            }
        }
    }
    channel.finish()
}
