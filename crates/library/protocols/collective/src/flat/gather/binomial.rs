//! A binomial tree towards the root: each rank passes on the blocks of its subtree as one message.

use crate::channel::ROUNDS;
use crate::cost::{Counts, Work, doubled, hop, packed};
use crate::memory::{Scratch, copy, window};
use crate::tree::Subtree;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) {
    let Some(own) = send
        .cloned()
        .or_else(|| blocks.map(|blocks| blocks.block(root)))
    else {
        return;
    };
    let bytes = own.bytes;
    if bytes == 0 {
        return;
    }
    let subtree = Subtree::new(channel, root);
    if let (Some(parent), 1) = (subtree.parent, subtree.ranks) {
        return channel
            .wait(channel.send(channel.before(parent), own))
            .await;
    }
    let Some(scratch) = channel.room(Scratch::new(subtree.ranks * bytes)) else {
        return;
    };
    let gathered = scratch.memory(subtree.ranks * bytes);
    copy(&own, &window(&gathered, 0..bytes));

    let mut requests = [None; ROUNDS];
    for (child, request) in subtree.children().zip(&mut requests) {
        let part = window(&gathered, child.start * bytes..child.end * bytes);
        *request = channel.receive(channel.after(child.start), part);
    }
    channel.wait_all(&requests).await;

    if let Some(parent) = subtree.parent {
        return channel
            .wait(channel.send(channel.before(parent), gathered))
            .await;
    }
    let Some(blocks) = blocks else { return };
    for distance in usize::from(send.is_none())..subtree.ranks {
        let block = window(&gathered, distance * bytes..(distance + 1) * bytes);
        copy(&block, &blocks.block(channel.after(distance)));
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let blocks = doubled(ranks).map(|blocks| hop(blocks as f64 * bytes));
    let all = ranks as f64 * bytes;
    Work::rooted(
        blocks.sum::<Counts>() + packed(all),
        hop(bytes) + packed(bytes),
    )
}
