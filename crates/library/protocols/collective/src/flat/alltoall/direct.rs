//! Everyone copies its blocks from everyone's memory, and waits until all have.

use crate::cost::{Work, copied, meeting, others};
use crate::memory::Packed;
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let packed = channel.room(Packed::of_blocks(send, channel.size()))?;
    let step = steps.post_region(&packed.memory()).await?;
    let own = (channel.rank(), channel.size());
    steps.take_blocks(step, own, receive).await?;
    steps.meet().await
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(2.0 * meeting(ranks) + others(ranks) * copied(bytes))
}
