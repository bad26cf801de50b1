//! A pipelined chain: each rank passes segments on to the next while the following ones arrive.

use crate::cost::{Work, hop, others, passed};
use crate::memory::window;
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

/// Long enough that a message's fixed costs do not show, short enough to fill the chain quickly.
const SEGMENT_BYTES: usize = 64 << 10;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let ranks = channel.size();
    let is_first = channel.rank() == root;
    let is_last = channel.after(1) == root;
    let segments = memory.bytes.div_ceil(SEGMENT_BYTES);
    let segment = |index: usize| {
        let start = index * SEGMENT_BYTES;
        window(memory, start..memory.bytes.min(start + SEGMENT_BYTES))
    };
    let receive = |index: usize| {
        let wanted = !is_first && index < segments;
        wanted
            .then(|| channel.receive(channel.before(1), segment(index)))
            .flatten()
    };
    debug_assert!(ranks > 1);
    let mut incoming = receive(0);
    let mut outgoing = None;
    for index in 0..segments {
        let following = receive(index + 1);
        channel.wait(incoming).await;
        incoming = following;
        if !is_last {
            let next = channel.send(channel.after(1), segment(index));
            channel.wait(outgoing).await;
            outgoing = next;
        }
    }
    channel.wait(outgoing).await;
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let segments = (bytes / SEGMENT_BYTES as f64).ceil().max(1.0);
    let segment = bytes / segments;
    let way = others(ranks) * hop(segment) + (segments - 1.0) * passed(segment);
    Work::rooted(way, segments * hop(segment))
}
