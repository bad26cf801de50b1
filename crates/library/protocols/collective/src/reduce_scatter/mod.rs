//! MPI_Reduce_scatter and MPI_Reduce_scatter_block (MPI-5.0 §6.10).

mod hierarchical;
mod hierarchical_split;

use crate::{Channel, PointToPoint, Reduction, boxed, flat, select};

pub use crate::flat::reduce_scatter::Shares;

algorithms_with_hosts! {
    reduce_scatter;
    Hierarchical: ContiguousHosts,
    HierarchicalSplit: EvenContiguousHosts,
}

/// Reduces everyone's input, and puts each rank's share of the result at the beginning of its output.
pub async fn reduce_scatter<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    shares: &Shares,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(channel, reduction, shares, select::reduce_scatter(call)).await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    shares: &Shares,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => {
            return flat::reduce_scatter::run(channel, reduction, shares, algorithm).await;
        }
        Algorithm::Hierarchical => boxed(|| hierarchical::run(channel, &reduction, shares)).await,
        Algorithm::HierarchicalSplit => {
            boxed(|| hierarchical_split::run(channel, &reduction, shares)).await
        }
    }
    channel.finish()
}
