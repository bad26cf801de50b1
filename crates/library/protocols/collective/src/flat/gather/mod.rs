//! MPI_Gather and MPI_Gatherv (MPI-5.0 §6.5).

pub(crate) mod binomial;
pub(crate) mod linear;
mod shared;

use crate::select;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

algorithms! {
    Binomial = binomial: Nothing,
    Linear = linear: Nothing,
    Shared = shared: Board,
}

/// Gathers everyone's `send` into the root's blocks, which are all as long. Only the root passes blocks; it
/// passes no `send` if its own block is in place.
pub async fn gather<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Result<(), P::Error> {
    let bytes = block_bytes(send.as_ref(), blocks, root);
    let call = channel.call(bytes);
    run(channel, send, blocks, root, select::flat::gather(call)).await
}

/// The packed bytes of a block, as a rank knows them from its own arguments.
pub(crate) fn block_bytes(
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> usize {
    match (send, blocks) {
        (Some(own), _) => own.bytes,
        (None, Some(blocks)) => blocks.block(root).bytes,
        (None, None) => 0,
    }
}

/// [`gather`] with blocks of any lengths.
pub async fn gatherv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Result<(), P::Error> {
    run(channel, send, blocks, root, Algorithm::Linear).await
}

/// A gather by a given algorithm, the same on all ranks. Only the linear one takes blocks of any lengths.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Shared => shared::run(channel, send.as_ref(), blocks, root)
            .await
            .unwrap_or(()),
        Algorithm::Binomial => binomial::run(channel, send.as_ref(), blocks, root).await,
        Algorithm::Linear => linear::run(channel, send.as_ref(), blocks, root).await,
    }
    channel.finish()
}
