//! MPI_Alltoall and MPI_Alltoallv (MPI-5.0 §6.8).

mod bruck;
mod direct;
mod in_place;
mod linear;
mod pairwise;
mod shared;

use crate::memory::copy;
use crate::select;
use crate::{Blocks, Channel, PointToPoint};

algorithms! {
    Bruck = bruck: Nothing,
    Direct = direct: Everything,
    Linear = linear: Nothing,
    Pairwise = pairwise: Nothing,
    Shared = shared: Board,
}

/// Sends block `r` of `send` to rank `r`'s block of this rank's number. All blocks are as long. No `send`
/// means that the blocks of `receive` are exchanged for those received.
pub async fn alltoall<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    let call = channel.call(receive.block(0).bytes);
    run(channel, send, receive, select::flat::alltoall(call)).await
}

/// [`alltoall`] with blocks of any lengths.
pub async fn alltoallv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    run(channel, send, receive, Algorithm::Linear).await
}

/// An exchange by a given algorithm, the same on all ranks; in place, there are only two. Those that share memory
/// and Bruck's take only blocks of one length.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    let Some(send) = send else {
        if algorithm == Algorithm::Shared {
            shared::run(channel, receive, receive).await.unwrap_or(());
            return channel.finish();
        }
        in_place::run(channel, receive).await;
        return channel.finish();
    };
    copy(&send.block(channel.rank()), &receive.block(channel.rank()));
    match algorithm {
        Algorithm::Shared => shared::run(channel, send, receive).await.unwrap_or(()),
        Algorithm::Direct => direct::run(channel, send, receive).await.unwrap_or(()),
        Algorithm::Bruck => bruck::run(channel, send, receive).await,
        Algorithm::Linear => linear::run(channel, send, receive).await,
        Algorithm::Pairwise => pairwise::run(channel, send, receive).await,
    }
    channel.finish()
}
