//! Everyone copies its block from the root's memory, and the root waits until all have.

use crate::cost::{Work, calls, contended_blocks, copied, meeting, others, step};
use crate::memory::{Packed, copy};
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<&Memory>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    if channel.rank() != root {
        let receive = receive?;
        let step = steps.listen();
        let theirs = steps.posted_region(step, root).await?;
        let packed = channel.room(Packed::room_for(receive))?;
        let own = theirs.block(channel.rank(), channel.size());
        steps.take(own, &packed.memory())?;
        steps.announce().await?;
        packed.unpack(receive);
        return Some(());
    }
    let blocks = blocks?;
    let packed = channel.room(Packed::of_blocks(blocks, channel.size()))?;
    steps.post_region(&packed.memory()).await?;
    if let Some(receive) = receive {
        copy(&blocks.block(root), receive);
    }
    let done = steps.listen();
    steps.others_posted(done).await
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let further = others(ranks) - 1.0;
    // As in a broadcast, but that each copies a block of its own.
    let waits = calls(0.5 * further) + contended_blocks(further, bytes);
    Work::rooted(
        step() + meeting(ranks) + copied(bytes) + waits,
        copied(bytes),
    )
}
