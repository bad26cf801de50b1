//! MPI_Reduce_scatter and MPI_Reduce_scatter_block (MPI-5.0 §6.10).

mod direct;
pub(crate) mod linear;
mod pairwise;
mod recursive_halving;
mod shared;
mod shares;

pub use shares::Shares;

use crate::select;
use crate::{Channel, PointToPoint, Reduction};

algorithms! {
    Direct = direct: Everything,
    Linear = linear: Nothing,
    Pairwise = pairwise: Nothing,
    RecursiveHalving = recursive_halving: Nothing,
    Shared = shared: Board,
}

/// Reduces everyone's input, and puts each rank's share of the result at the beginning of its output.
pub async fn reduce_scatter<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    shares: &Shares,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(
        channel,
        reduction,
        shares,
        select::flat::reduce_scatter(call),
    )
    .await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    shares: &Shares,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if channel.size() == 1 {
        reduction.input().copy_to(reduction.output());
    } else if reduction.bytes() > 0 {
        match algorithm {
            Algorithm::Shared => shared::run(channel, &reduction, shares).await.unwrap_or(()),
            Algorithm::Direct => direct::run(channel, &reduction, shares).await.unwrap_or(()),
            Algorithm::Linear => linear::run(channel, &reduction, shares).await,
            Algorithm::Pairwise => pairwise::run(channel, &reduction, shares).await,
            Algorithm::RecursiveHalving => {
                recursive_halving::run(channel, &reduction, shares).await;
            }
        }
    }
    channel.finish()
}
