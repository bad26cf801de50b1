//! MPI_Reduce (MPI-5.0 §6.9.1).

mod accumulator;
mod binomial;
mod direct;
pub(crate) mod halving;
pub(crate) mod linear;
mod reduce_scatter_gather;
pub(crate) mod shared;

use crate::select;
use crate::{Channel, PointToPoint, Reduction};
pub(crate) use accumulator::Accumulator;

algorithms! {
    Binomial = binomial: Nothing,
    Direct = direct: Everything,
    Linear = linear: Nothing,
    ReduceScatterGather = reduce_scatter_gather: Nothing,
    Shared = shared: Board,
}

/// Reduces everyone's input into the root's output.
pub async fn reduce<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    root: usize,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(channel, reduction, root, select::flat::reduce(call)).await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if channel.size() == 1 {
        reduction.input().copy_to(reduction.output());
    } else if reduction.bytes() > 0 {
        match algorithm {
            Algorithm::Shared => shared::run(channel, &reduction, root).await.unwrap_or(()),
            Algorithm::Direct => direct::run(channel, &reduction, root).await.unwrap_or(()),
            Algorithm::Binomial => binomial::run(channel, &reduction, root).await,
            Algorithm::Linear => linear::run(channel, &reduction, root).await,
            Algorithm::ReduceScatterGather => {
                reduce_scatter_gather::run(channel, &reduction, root).await;
            }
        }
    }
    channel.finish()
}
