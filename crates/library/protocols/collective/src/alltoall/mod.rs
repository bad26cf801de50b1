//! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 §6.8).

mod hierarchical;

use crate::{Blocks, Channel, PointToPoint, flat, select};

algorithms_with_hosts! {
    alltoall;
    Hierarchical: Hosts,
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

/// An exchange by a given algorithm, the same on all ranks. Those that share memory, Bruck's and the hierarchical one take
/// only blocks of one length.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => flat::alltoall::run(channel, send, receive, algorithm).await,
        Algorithm::Hierarchical => {
            hierarchical::run(channel, send.unwrap_or(receive), receive).await;
            channel.finish()
        }
    }
}
