//! MPI_Scatter and MPI_Scatterv (MPI-5.0 §6.6).

mod hierarchical;

use crate::{Blocks, Channel, PointToPoint, boxed, flat, select};
use weft_memory::Memory;

algorithms_with_hosts! {
    scatter;
    Hierarchical: Hosts,
}

/// Scatters the root's blocks, which are all as long, into everyone's `receive`. Only the root passes blocks;
/// it passes no `receive` if its own block stays in place.
pub async fn scatter<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: usize,
) -> Result<(), P::Error> {
    let bytes = flat::scatter::block_bytes(receive.as_ref(), blocks, root);
    let call = channel.call(bytes);
    run(channel, blocks, receive, root, select::scatter(call)).await
}

/// [`scatter`] with blocks of any lengths, which the ranks do not all know.
pub async fn scatterv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: usize,
) -> Result<(), P::Error> {
    flat::scatter::scatterv(channel, blocks, receive, root).await
}

/// A scatter by a given algorithm, the same on all ranks. Only the linear one among all takes blocks of any lengths.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    match algorithm {
        Algorithm::Flat(algorithm) => {
            flat::scatter::run(channel, blocks, receive, root, algorithm).await
        }
        Algorithm::Hierarchical => {
            boxed(|| hierarchical::run(channel, blocks, receive.as_ref(), root)).await;
            channel.finish()
        }
    }
}
