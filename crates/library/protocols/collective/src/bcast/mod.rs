//! MPI_Bcast (MPI-5.0 §6.4).

mod hierarchical;
mod hierarchical_streams;

use crate::memory::Packed;
use crate::{Channel, PointToPoint, boxed, flat, select};
use weft_memory::Memory;

algorithms_with_hosts! {
    bcast;
    Hierarchical: Hosts,
    HierarchicalStreams: Hosts,
}

/// Broadcasts the root's `memory` into everyone else's.
pub async fn bcast<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: Memory,
    root: usize,
) -> Result<(), P::Error> {
    let call = channel.call(memory.bytes);
    run(channel, memory, root, select::bcast(call)).await
}

/// A broadcast by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: Memory,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if let Algorithm::Flat(algorithm) = algorithm {
        return flat::bcast::run(channel, memory, root, algorithm).await;
    }
    // A datatype with holes is packed and unpacked once.
    let is_root = channel.rank() == root;
    let packed = channel.room(match is_root {
        true => Packed::of(&memory),
        false => Packed::room_for(&memory),
    });
    let Some(packed) = packed else {
        return channel.finish();
    };
    let bytes = packed.memory();
    match algorithm {
        Algorithm::HierarchicalStreams => {
            boxed(|| hierarchical_streams::run(channel, &bytes, root)).await
        }
        _ => boxed(|| hierarchical::run(channel, &bytes, root)).await,
    }
    if !is_root {
        packed.unpack(&memory);
    }
    channel.finish()
}
