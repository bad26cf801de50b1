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
    for distance in 1..channel.size() {
        let rank = channel.after(distance);
        let address = steps.posted_address(step, rank).await?;
        let block = receive.block(rank);
        let offset = channel.rank() * block.bytes;
        let packed = Packed::room_for(&block);
        let theirs = address.wrapping_add(offset as u64);
        steps.read(rank, theirs, &packed.memory());
        packed.unpack(&block);
    }
    steps.meet().await
}
