//! Everyone sends to the root.

use crate::cost::{Work, hop, others, received, sent};
use crate::memory::copy;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) {
    if channel.rank() != root {
        let request = send
            .filter(|send| send.bytes > 0)
            .and_then(|send| channel.send(root, send.clone()));
        return channel.wait(request).await;
    }
    let Some(blocks) = blocks else { return };
    if let Some(send) = send {
        copy(send, &blocks.block(root));
    }
    let receive = |index: usize| {
        let from = channel.after(index + 1);
        let block = blocks.block(from);
        if block.bytes > 0 {
            channel.receive(from, block)
        } else {
            None
        }
    };
    channel.windowed(channel.size() - 1, receive).await;
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let further = others(ranks) - 1.0;
    Work::rooted(hop(bytes) + further * received(bytes), sent(bytes))
}
