//! Everyone copies its blocks from everyone's memory, and waits until all have.

use crate::memory::Packed;
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let own = Packed::of_blocks(send, channel.size());
    let step = steps.post_address(&own.memory()).await?;
    steps.copy_blocks(step, channel.rank(), receive).await?;
    steps.meet().await
}
