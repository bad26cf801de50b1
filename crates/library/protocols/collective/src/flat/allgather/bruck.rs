//! Bruck's algorithm (Bruck et al. 1997): the blocks a rank holds double in each of ceil(log2 n) rounds.

use crate::cost::{Work, gathering, packed};
use crate::memory::{Scratch, window};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, blocks: &dyn Blocks) {
    let ranks = channel.size();
    // Blocks lie packed in the order of the ranks from this one on. `end` is where a number of them ends.
    let bytes = |distance: usize| blocks.block(channel.after(distance)).bytes;
    let total = (0..ranks).map(bytes).sum();
    let Some(scratch) = channel.room(Scratch::new(total)) else {
        return;
    };
    let held = scratch.memory(total);
    let own = blocks.block(channel.rank());
    channel.copy(&own, &window(&held, 0..own.bytes));

    // The peer `count` before wants our first blocks; the peer `count` after has those that follow ours.
    let (mut count, mut end) = (1, own.bytes);
    while count < ranks {
        let moved = count.min(ranks - count);
        let out: usize = (0..moved).map(bytes).sum();
        let into: usize = (count..count + moved).map(bytes).sum();
        let (to, from) = (channel.before(count), channel.after(count));
        channel
            .exchange(
                to,
                window(&held, 0..out),
                from,
                window(&held, end..end + into),
            )
            .await;
        end += into;
        count += moved;
    }

    let mut start = own.bytes;
    for distance in 1..ranks {
        let block = blocks.block(channel.after(distance));
        channel.copy(&window(&held, start..start + block.bytes), &block);
        start += block.bytes;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(gathering(ranks, bytes) + packed(ranks as f64 * bytes))
}
