//! MPI_Scatter and MPI_Scatterv (MPI-5.0 §6.6).

mod binomial;
mod direct;
pub(crate) mod linear;
mod shared;

use crate::select;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

algorithms! {
    Binomial = binomial: Nothing,
    Direct = direct: Everything,
    Linear = linear: Nothing,
    Shared = shared: Board,
}

/// Scatters the root's blocks, which are all as long, into everyone's `receive`. Only the root passes blocks;
/// it passes no `receive` if its own block stays in place.
pub async fn scatter<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: usize,
) -> Result<(), P::Error> {
    let bytes = block_bytes(receive.as_ref(), blocks, root);
    let call = channel.call(bytes);
    run(channel, blocks, receive, root, select::flat::scatter(call)).await
}

/// The packed bytes of a block, as a rank knows them from its own arguments.
pub(crate) fn block_bytes(
    receive: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> usize {
    match (receive, blocks) {
        (Some(own), _) => own.bytes,
        (None, Some(blocks)) => blocks.block(root).bytes,
        (None, None) => 0,
    }
}

/// [`scatter`] with blocks of any lengths.
pub async fn scatterv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: usize,
) -> Result<(), P::Error> {
    run(channel, blocks, receive, root, Algorithm::Linear).await
}

/// A scatter by a given algorithm, the same on all ranks. Only the linear one takes blocks of any lengths.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Shared => shared::run(channel, blocks, receive.as_ref(), root)
            .await
            .unwrap_or(()),
        Algorithm::Direct => direct::run(channel, blocks, receive.as_ref(), root)
            .await
            .unwrap_or(()),
        Algorithm::Binomial => binomial::run(channel, blocks, receive.as_ref(), root).await,
        Algorithm::Linear => linear::run(channel, blocks, receive.as_ref(), root).await,
    }
    channel.finish()
}
