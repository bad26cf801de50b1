//! The root sends to everyone.

use crate::cost::Work;
use crate::flat::bcast;
use crate::memory::copy;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<&Memory>,
    root: usize,
) {
    if channel.rank() != root {
        let request = receive
            .filter(|into| into.bytes > 0)
            .and_then(|into| channel.receive(root, into.clone()));
        return channel.wait(request).await;
    }
    let Some(blocks) = blocks else { return };
    let send = |index: usize| {
        let to = channel.after(index + 1);
        let block = blocks.block(to);
        if block.bytes > 0 {
            channel.send(to, block)
        } else {
            None
        }
    };
    channel.windowed(channel.size() - 1, send).await;
    if let Some(receive) = receive {
        copy(&blocks.block(root), receive);
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    bcast::linear::work(ranks, bytes)
}
