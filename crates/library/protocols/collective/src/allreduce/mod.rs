//! MPI_Allreduce (MPI-5.0 §6.9.6).

mod hierarchical;
mod hierarchical_split;

use crate::{Channel, PointToPoint, Reduction, boxed, flat, select};

algorithms_with_hosts! {
    allreduce;
    Hierarchical: Hosts,
    HierarchicalSplit: EvenHosts,
}

/// Reduces everyone's input into everyone's output.
pub async fn allreduce<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(channel, reduction, select::allreduce(call)).await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => {
            return flat::allreduce::run(channel, reduction, algorithm).await;
        }
        Algorithm::Hierarchical => boxed(|| hierarchical::run(channel, &reduction)).await,
        Algorithm::HierarchicalSplit => {
            boxed(|| hierarchical_split::run(channel, &reduction)).await
        }
    }
    channel.finish()
}
