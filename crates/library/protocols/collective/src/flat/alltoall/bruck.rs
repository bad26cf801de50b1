//! Bruck's algorithm (Bruck et al. 1997) for short blocks: ceil(log2 n) rounds, in each of which the blocks
//! whose distance still to go has the round's bit set move on together.

use crate::cost::{Work, copies, doublings, packed, pass};
use crate::memory::{Scratch, window};
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) {
    let ranks = channel.size();
    let bytes = receive.block(channel.rank()).bytes;
    if bytes == 0 {
        return;
    }
    // By distance: the block on its way to the rank that far after its sender. Then what goes out in a
    // round, and what comes in: half of the blocks, rounded up.
    let half = ranks.div_ceil(2);
    let Some(scratch) = channel.room(Scratch::new((ranks + 2 * half) * bytes)) else {
        return;
    };
    let all = scratch.memory((ranks + 2 * half) * bytes);
    let block = |index: usize| window(&all, index * bytes..(index + 1) * bytes);
    for distance in 1..ranks {
        channel.copy(&send.block(channel.after(distance)), &block(distance));
    }

    let mut bit = 1;
    while bit < ranks {
        let moving = || (1..ranks).filter(|distance| distance & bit != 0);
        for (slot, distance) in moving().enumerate() {
            channel.copy(&block(distance), &block(ranks + slot));
        }
        let moved = moving().count() * bytes;
        let (out, into) = (ranks * bytes, (ranks + half) * bytes);
        let (out, into) = (
            window(&all, out..out + moved),
            window(&all, into..into + moved),
        );
        channel
            .exchange(channel.after(bit), out, channel.before(bit), into)
            .await;
        for (slot, distance) in moving().enumerate() {
            channel.copy(&block(ranks + half + slot), &block(distance));
        }
        bit *= 2;
    }
    for distance in 1..ranks {
        channel.copy(&block(distance), &receive.block(channel.before(distance)));
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let all = ranks as f64 * bytes;
    let each = pass(all / 2.0) + packed(all) + copies(ranks);
    Work::alike(doublings(ranks) * each + copies(2 * ranks))
}
