//! MPI_Allgather and MPI_Allgatherv (MPI-5.0 §6.7).

mod bruck;
mod direct;
mod linear;
mod ring;
mod shared;

use crate::memory::copy;
use crate::select;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

algorithms! {
    Bruck = bruck: Nothing,
    Direct = direct: Everything,
    Linear = linear: Nothing,
    Ring = ring: Nothing,
    Shared = shared: Board,
}

/// Gathers everyone's `send` into everyone's blocks, of any lengths. No `send` means that the own block is in place.
pub async fn allgatherv<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: &dyn Blocks,
) -> Result<(), P::Error> {
    let call = channel.call(longest_block(channel.size(), blocks));
    run(channel, send, blocks, select::flat::allgather(call)).await
}

/// The packed bytes of the longest of so many blocks.
pub(crate) fn longest_block(ranks: usize, blocks: &dyn Blocks) -> usize {
    let lengths = (0..ranks).map(|rank| blocks.block(rank).bytes);
    lengths.max().unwrap_or(0)
}

/// A gather by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: &dyn Blocks,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if let Some(send) = &send {
        copy(send, &blocks.block(channel.rank()));
    }
    if channel.size() > 1 {
        match algorithm {
            Algorithm::Shared => shared::run(channel, blocks).await.unwrap_or(()),
            Algorithm::Direct => direct::run(channel, send.as_ref(), blocks)
                .await
                .unwrap_or(()),
            Algorithm::Bruck => bruck::run(channel, blocks).await,
            Algorithm::Linear => linear::run(channel, blocks).await,
            Algorithm::Ring => ring::run(channel, blocks).await,
        }
    }
    channel.finish()
}
