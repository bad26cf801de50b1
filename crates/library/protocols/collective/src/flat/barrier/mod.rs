//! MPI_Barrier (MPI-5.0 §6.3).

mod dissemination;
mod linear;
mod shared;

use crate::select;
use crate::{Channel, PointToPoint};

algorithms! {
    Dissemination = dissemination: Nothing,
    Linear = linear: Nothing,
    Shared = shared: Board,
}

pub async fn barrier<P: PointToPoint>(channel: &Channel<'_, P>) -> Result<(), P::Error> {
    let call = channel.call(0);
    run(channel, select::flat::barrier(call)).await
}

/// A barrier by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Shared => shared::run(channel).await.unwrap_or(()),
        Algorithm::Dissemination => dissemination::run(channel).await,
        Algorithm::Linear => linear::run(channel).await,
    }
    channel.finish()
}
