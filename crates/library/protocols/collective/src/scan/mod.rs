//! MPI_Scan and MPI_Exscan (MPI-5.0 §6.11).

mod hierarchical;

pub use crate::flat::scan::ScanKind;

use crate::{Channel, PointToPoint, Reduction, boxed, flat, select};

algorithms_with_hosts! {
    scan;
    Hierarchical: ContiguousHosts,
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
    select::scan(channel.call_of(reduction))
}

/// A scan by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    kind: ScanKind,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => flat::scan::run(channel, reduction, kind, algorithm).await,
        Algorithm::Hierarchical => {
            boxed(|| hierarchical::run(channel, &reduction, kind)).await;
            channel.finish()
        }
    }
}
