//! The root sends to everyone.

use crate::cost::{Work, contended, hop, long, others, received, sent};
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

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let further = others(ranks) - 1.0;
    let same = contended(further, long(bytes));
    Work::rooted(hop(bytes) + further * sent(bytes) + same, received(bytes))
}
