//! The root sends to everyone.

use crate::{Channel, PointToPoint};
use weft_memory::Memory;

pub(crate) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    if channel.rank() == root {
        let others = channel.size() - 1;
        channel
            .windowed(others, |index| {
                channel.send(channel.after(index + 1), memory.clone())
            })
            .await;
    } else {
        channel.wait(channel.receive(root, memory.clone())).await;
    }
}
