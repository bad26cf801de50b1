//! MPI_Bcast (MPI-5.0 §6.4).

mod binomial;
mod chain;
mod circulant;
pub(crate) mod linear;
mod pieces;
mod scatter_ring_allgather;
pub(crate) mod shared;

use crate::memory::{Scratch, copy};
use crate::select;
use crate::steps::PIECE;
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

algorithms! {
    Binomial = binomial: Nothing,
    Chain = chain: Nothing,
    Circulant = circulant: Nothing,
    Linear = linear: Nothing,
    ScatterRingAllgather = scatter_ring_allgather: Nothing,
    Shared = shared: Board,
}

/// Broadcasts the root's `memory` into everyone else's.
pub async fn bcast<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: Memory,
    root: usize,
) -> Result<(), P::Error> {
    let call = channel.call(memory.bytes);
    run(channel, memory, root, select::flat::bcast(call)).await
}

/// A broadcast by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: Memory,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if channel.size() > 1 && memory.bytes > 0 {
        match algorithm {
            Algorithm::Linear => linear::run(channel, &memory, root).await,
            Algorithm::Shared => through_board(channel, &memory, root).await.unwrap_or(()),
            _ => forwarded(channel, &memory, root, algorithm).await,
        }
    }
    channel.finish()
}

/// Over the board. More than a piece of a datatype with holes is packed and unpacked once, too.
pub(crate) async fn through_board<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: &Memory,
    root: usize,
) -> Option<()> {
    if memory.layout.is_none() || memory.bytes <= PIECE {
        return shared::run(channel, memory, root).await;
    }
    forwarded(channel, memory, root, Algorithm::Shared).await;
    Some(())
}

/// Algorithms that pass on what they received work on contiguous bytes, so that a datatype with holes is
/// packed and unpacked once.
async fn forwarded<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: &Memory,
    root: usize,
    algorithm: Algorithm,
) {
    let staged = memory.layout.is_some();
    let Some(scratch) = channel.room(Scratch::new(if staged { memory.bytes } else { 0 })) else {
        return;
    };
    let bytes = if staged {
        scratch.memory(memory.bytes)
    } else {
        memory.clone()
    };
    if staged && channel.rank() == root {
        copy(memory, &bytes);
    }
    match algorithm {
        Algorithm::Shared => shared::run(channel, &bytes, root).await.unwrap_or(()),
        Algorithm::Binomial => binomial::run(channel, &bytes, root).await,
        Algorithm::Chain => chain::run(channel, &bytes, root).await,
        Algorithm::Circulant => circulant::run(channel, &bytes, root).await,
        Algorithm::Linear => linear::run(channel, &bytes, root).await,
        Algorithm::ScatterRingAllgather => {
            scatter_ring_allgather::run(channel, &bytes, root).await;
        }
    }
    if staged && channel.rank() != root {
        copy(&bytes, memory);
    }
}
