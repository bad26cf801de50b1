//! The root copies from everyone's memory, and all wait until it has.

use crate::cost::{Work, copied, looks, meeting, others};
use crate::memory::{Packed, copy};
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    if channel.rank() != root {
        let packed = channel.room(Packed::of(send?))?;
        steps.post_region(&packed.memory()).await?;
        let done = steps.listen();
        return steps.rank_posted(done, root).await;
    }
    let blocks = blocks?;
    if let Some(send) = send {
        copy(send, &blocks.block(root));
    }
    let step = steps.listen();
    steps.take_blocks(step, (0, 1), blocks).await?;
    steps.announce().await.map(drop)
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::rooted(
        2.0 * meeting(ranks) + others(ranks) * copied(bytes),
        looks(1.0),
    )
}
