//! One exchange after the other, at growing distances around the ring, for long blocks.

use crate::cost::{Work, others, pass};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) {
    for distance in 1..channel.size() {
        let (to, from) = (channel.after(distance), channel.before(distance));
        channel
            .exchange(to, send.block(to), from, receive.block(from))
            .await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(others(ranks) * pass(bytes))
}
