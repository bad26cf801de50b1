//! MPI_Allgather and MPI_Allgatherv (MPI-5.0 §6.7).

mod hierarchical;
mod hierarchical_ring;

use crate::memory::copy;
use crate::{Blocks, Channel, PointToPoint, boxed, flat, select};
use weft_memory::Memory;

algorithms_with_hosts! {
    allgather;
    Hierarchical: Hosts,
    HierarchicalRing: EvenHosts,
}

/// Gathers everyone's `send` into everyone's blocks, which are all as long. No `send` means that the own
/// block is in place.
pub async fn allgather<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: &dyn Blocks,
) -> Result<(), P::Error> {
    let call = channel.call(blocks.block(0).bytes);
    run(channel, send, blocks, select::allgather(call)).await
}

/// [`allgather`] with blocks of any lengths.
pub async fn allgatherv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: &dyn Blocks,
) -> Result<(), P::Error> {
    let longest = flat::allgather::longest_block(channel.size(), blocks);
    let call = channel.call(longest);
    run(channel, send, blocks, select::allgather(call)).await
}

/// A gather by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: &dyn Blocks,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if let Algorithm::Flat(algorithm) = algorithm {
        return flat::allgather::run(channel, send, blocks, algorithm).await;
    }
    if let Some(send) = &send {
        copy(send, &blocks.block(channel.rank()));
    }
    match algorithm {
        Algorithm::HierarchicalRing => boxed(|| hierarchical_ring::run(channel, blocks)).await,
        _ => boxed(|| hierarchical::run(channel, blocks)).await,
    }
    channel.finish()
}
