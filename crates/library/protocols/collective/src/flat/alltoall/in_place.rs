//! In place: pairs of ranks exchange their blocks, one pair at a time on each rank, with one block of scratch.

use crate::memory::{Scratch, copy, window};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, blocks: &dyn Blocks) {
    let (rank, ranks) = (channel.rank(), channel.size());
    let longest = (0..ranks)
        .map(|peer| blocks.block(peer).bytes)
        .max()
        .unwrap_or(0);
    let Some(scratch) = channel.room(Scratch::new(longest)) else {
        return;
    };
    let room = scratch.memory(longest);
    for round in 0..ranks {
        // In a round the ranks of a pair add up to the same number, modulo the ranks.
        let peer = (round + ranks - rank) % ranks;
        let block = blocks.block(peer);
        if peer == rank || block.bytes == 0 {
            continue;
        }
        let out = window(&room, 0..block.bytes);
        copy(&block, &out);
        channel.exchange(peer, out, peer, block).await;
    }
}
