//! Through rank 0, which gathers all blocks and sends them to everyone as one message.

use crate::cost::Work;
use crate::flat::{bcast, gather};
use crate::memory::{Scratch, copy, window};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, blocks: &dyn Blocks) {
    let own = blocks.block(channel.rank());
    gather::linear::run(
        channel,
        (channel.rank() != 0).then_some(&own),
        Some(blocks),
        0,
    )
    .await;
    if let Some(whole) = blocks.whole() {
        return bcast::linear::run(channel, &whole, 0).await;
    }
    let total = (0..channel.size())
        .map(|rank| blocks.block(rank).bytes)
        .sum();
    let Some(scratch) = channel.room(Scratch::new(total)) else {
        return;
    };
    let packed = scratch.memory(total);
    // Each block with its part of the message.
    let parts = (0..channel.size()).scan(0, |end, rank| {
        let block = blocks.block(rank);
        let start = *end;
        *end += block.bytes;
        Some((window(&packed, start..*end), block))
    });
    if channel.rank() == 0 {
        parts.clone().for_each(|(part, block)| copy(&block, &part));
        bcast::linear::run(channel, &packed, 0).await;
    } else {
        bcast::linear::run(channel, &packed, 0).await;
        parts.clone().for_each(|(part, block)| copy(&part, &block));
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let all = ranks as f64 * bytes;
    gather::linear::work(ranks, bytes) + bcast::linear::work(ranks, all)
}
