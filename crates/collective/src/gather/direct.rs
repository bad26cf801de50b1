//! The root copies from everyone's memory, and all wait until it has.

use crate::memory::{Packed, copy};
use crate::{Blocks, Channel, PointToPoint};
use weft_transport::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    if channel.rank() != root {
        let packed = Packed::of(send?);
        steps.post_address(&packed.memory()).await?;
        let done = steps.listen();
        return steps.posted(done, root, 0).await.map(drop);
    }
    let blocks = blocks?;
    if let Some(send) = send {
        copy(send, &blocks.block(root));
    }
    let step = steps.listen();
    for distance in 1..channel.size() {
        let rank = channel.after(distance);
        let address = steps.posted_address(step, rank).await?;
        let block = blocks.block(rank);
        let packed = Packed::room_for(&block);
        steps.read(rank, address, &packed.memory());
        packed.unpack(&block);
    }
    let done = steps.begin(0).await?;
    steps.publish(done);
    Some(())
}
