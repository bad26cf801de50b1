//! MPI_Allreduce (MPI-5.0 §6.9.6).

mod direct;
pub(crate) mod linear;
mod rabenseifner;
mod recursive_doubling;
mod shared;
mod shared_rooted;
mod shared_slices;

use crate::select;
use crate::{Channel, PointToPoint, Reduction};

algorithms! {
    Direct = direct: Everything,
    Linear = linear: Nothing,
    Rabenseifner = rabenseifner: Nothing,
    RecursiveDoubling = recursive_doubling: Nothing,
    Shared = shared: Board,
    SharedRooted = shared_rooted: Board,
    SharedSlices = shared_slices: Board,
}

/// Reduces everyone's input into everyone's output.
pub async fn allreduce<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(channel, reduction, select::flat::allreduce(call)).await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if channel.size() == 1 {
        reduction.input().copy_to(reduction.output());
    } else if reduction.bytes() > 0 {
        match algorithm {
            Algorithm::Shared => shared::run(channel, &reduction).await.unwrap_or(()),
            Algorithm::SharedRooted => {
                let combined = shared_rooted::run(channel, &reduction).await;
                combined.unwrap_or(());
            }
            Algorithm::SharedSlices => {
                let combined = shared_slices::run(channel, &reduction).await;
                combined.unwrap_or(());
            }
            Algorithm::Direct => direct::run(channel, &reduction).await.unwrap_or(()),
            Algorithm::Linear => linear::run(channel, &reduction).await,
            Algorithm::Rabenseifner => rabenseifner::run(channel, &reduction).await,
            Algorithm::RecursiveDoubling => recursive_doubling::run(channel, &reduction).await,
        }
    }
    channel.finish()
}
