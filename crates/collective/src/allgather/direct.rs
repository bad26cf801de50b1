//! Everyone copies from everyone's memory, and waits until all have.

use crate::memory::Packed;
use crate::{Blocks, Channel, PointToPoint};
use weft_transport::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let own = match send {
        Some(send) => Packed::of(send),
        None => Packed::of(&blocks.block(channel.rank())),
    };
    let step = steps.post_address(&own.memory()).await?;
    for distance in 1..channel.size() {
        let rank = channel.after(distance);
        let address = steps.posted_address(step, rank).await?;
        let block = blocks.block(rank);
        let packed = Packed::room_for(&block);
        steps.read(rank, address, &packed.memory());
        packed.unpack(&block);
    }
    steps.meet().await
}
