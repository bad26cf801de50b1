//! MPI_Gather and MPI_Gatherv (MPI-5.0 §6.5).

mod hierarchical;

use crate::{Blocks, Channel, PointToPoint, boxed, flat, select};
use weft_memory::Memory;

algorithms_with_hosts! {
    gather;
    Hierarchical: Hosts,
}

/// Gathers everyone's `send` into the root's blocks, which are all as long. Only the root passes blocks; it
/// passes no `send` if its own block is in place.
pub async fn gather<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Result<(), P::Error> {
    let bytes = flat::gather::block_bytes(send.as_ref(), blocks, root);
    let call = channel.call(bytes);
    run(channel, send, blocks, root, select::gather(call)).await
}

/// [`gather`] with blocks of any lengths, which the ranks do not all know.
pub async fn gatherv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Result<(), P::Error> {
    flat::gather::gatherv(channel, send, blocks, root).await
}

/// A gather by a given algorithm, the same on all ranks. Only the linear one among all takes blocks of any lengths.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => {
            flat::gather::run(channel, send, blocks, root, algorithm).await
        }
        Algorithm::Hierarchical => {
            boxed(|| hierarchical::run(channel, send.as_ref(), blocks, root)).await;
            channel.finish()
        }
    }
}
