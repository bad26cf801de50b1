//! Blocks go around the ring, each rank passing on what it received last.

use crate::cost::{Work, others, pass};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, blocks: &dyn Blocks) {
    let (next, previous) = (channel.after(1), channel.before(1));
    for step in 0..channel.size() - 1 {
        let out = blocks.block(channel.before(step));
        let into = blocks.block(channel.before(step + 1));
        channel.exchange(next, out, previous, into).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(others(ranks) * pass(bytes))
}
