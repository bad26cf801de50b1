//! MPI_Reduce (MPI-5.0 §6.9.1).

mod hierarchical;

use crate::{Channel, PointToPoint, Reduction, boxed, flat, select};

algorithms_with_hosts! {
    reduce;
    Hierarchical: Hosts,
}

/// Reduces everyone's input into the root's output.
pub async fn reduce<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    root: usize,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(channel, reduction, root, select::reduce(call)).await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => flat::reduce::run(channel, reduction, root, algorithm).await,
        Algorithm::Hierarchical => {
            boxed(|| hierarchical::run(channel, &reduction, root)).await;
            channel.finish()
        }
    }
}
