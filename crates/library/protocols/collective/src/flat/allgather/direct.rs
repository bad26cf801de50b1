//! Everyone copies from everyone's memory, and waits until all have.

use crate::cost::{Work, copied, meeting, others};
use crate::memory::Packed;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let own = channel.room(match send {
        Some(send) => Packed::of(send),
        None => Packed::of(&blocks.block(channel.rank())),
    })?;
    let step = steps.post_region(&own.memory()).await?;
    steps.take_blocks(step, (0, 1), blocks).await?;
    steps.meet().await
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(2.0 * meeting(ranks) + others(ranks) * copied(bytes))
}
