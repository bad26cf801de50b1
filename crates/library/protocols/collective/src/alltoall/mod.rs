//! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 §6.8).

mod hierarchical;
mod hierarchical_split;

use crate::{Blocks, Channel, PointToPoint, boxed, flat, select};

algorithms_with_hosts! {
    alltoall;
    Hierarchical: Hosts,
    HierarchicalSplit: EvenHosts,
}

/// Sends block `r` of `send` to rank `r`'s block of this rank's number. All blocks are as long. No `send`
/// means that the blocks of `receive` are exchanged for those received.
pub async fn alltoall<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    let call = channel.call(receive.block(0).bytes);
    run(channel, send, receive, select::alltoall(call)).await
}

/// [`alltoall`] with blocks of any lengths.
pub async fn alltoallv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    flat::alltoall::alltoallv(channel, send, receive).await
}

/// An exchange by a given algorithm, the same on all ranks. Those that share memory, Bruck's and the hierarchical ones take
/// only blocks of one length.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    let from = send.unwrap_or(receive);
    match algorithm {
        Algorithm::Flat(algorithm) => {
            return flat::alltoall::run(channel, send, receive, algorithm).await;
        }
        Algorithm::Hierarchical => boxed(|| hierarchical::run(channel, from, receive)).await,
        Algorithm::HierarchicalSplit => {
            boxed(|| hierarchical_split::run(channel, from, receive)).await
        }
    }
    channel.finish()
}
