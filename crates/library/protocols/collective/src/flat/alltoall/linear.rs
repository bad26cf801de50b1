//! All messages at once, in windows, each rank beginning with its neighbours so that no one is flooded.

use crate::channel::WINDOW;
use crate::cost::{Work, contended, doublings, long, looks, others, received, round, sent};
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

/// How many others copy from a sender's memory while one does, as ranks do not stay in step (16 cores of an Intel Xeon).
const MET: f64 = 2.0;

/// The work of its ranks. For each message that comes, a rank looks at some that it waits for in vain.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let met = contended(MET.min(others(ranks) - 1.0), long(bytes));
    let each = sent(bytes) + received(bytes) + looks(2.0 * (doublings(ranks) - 1.0)) + met;
    Work::alike(round() + others(ranks) * each)
}
