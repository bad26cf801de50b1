//! All messages at once, in windows, each rank beginning with its neighbours so that no one is flooded.

use crate::channel::WINDOW;
use crate::cost::{Work, others, received, round, sent};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) {
    let others = channel.size() - 1;
    // Half of a window's requests receive, the other half send; all ranks' windows fit together.
    for begin in (0..others).step_by(WINDOW / 2) {
        let distances = begin + 1..=others.min(begin + WINDOW / 2);
        let mut requests = [None; WINDOW];
        for (slot, distance) in distances.clone().enumerate() {
            let from = channel.before(distance);
            let block = receive.block(from);
            requests[slot] = if block.bytes > 0 {
                channel.receive(from, block)
            } else {
                None
            };
        }
        for (slot, distance) in distances.enumerate() {
            let to = channel.after(distance);
            let block = send.block(to);
            requests[WINDOW / 2 + slot] = if block.bytes > 0 {
                channel.send(to, block)
            } else {
                None
            };
        }
        channel.wait_all(&requests).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(round() + others(ranks) * (sent(bytes) + received(bytes)))
}
