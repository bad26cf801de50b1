//! MPI_Barrier (MPI-5.0 §6.3).

mod hierarchical;

use crate::{Channel, PointToPoint, boxed, flat, select};

algorithms_with_hosts! {
    barrier;
    Hierarchical: Hosts,
}

pub async fn barrier<P: PointToPoint>(channel: &Channel<'_, P>) -> Result<(), P::Error> {
    let call = channel.call(0);
    run(channel, select::barrier(call)).await
}

/// A barrier by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => flat::barrier::run(channel, algorithm).await,
        Algorithm::Hierarchical => {
            boxed(|| hierarchical::run(channel)).await;
            channel.finish()
        }
    }
}
