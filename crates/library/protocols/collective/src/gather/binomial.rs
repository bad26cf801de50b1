//! A binomial tree towards the root: each rank passes on the blocks of its subtree as one message.

use crate::channel::ROUNDS;
use crate::memory::{Scratch, copy, window};
use crate::{Blocks, Channel, PointToPoint};
use weft_transport::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) {
    let ranks = channel.size();
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
    // Ranks counted from the root; the subtree is `relative..relative + bit`.
    let relative = (channel.rank() + ranks - root) % ranks;
    let mut bit = 1;
    while bit < ranks && relative & bit == 0 {
        bit *= 2;
    }
    let subtree = bit.min(ranks - relative);
    if subtree == 1 && relative != 0 {
        return channel.wait(channel.send(channel.before(bit), own)).await;
    }
    let scratch = Scratch::new(subtree * bytes);
    let gathered = scratch.memory(subtree * bytes);
    copy(&own, &window(&gathered, 0..bytes));

    let mut requests = [None; ROUNDS];
    let mut children = 0;
    let mut child = 1;
    while child < subtree {
        let end = subtree.min(2 * child);
        let part = window(&gathered, child * bytes..end * bytes);
        requests[children] = channel.receive(channel.after(child), part);
        children += 1;
        child *= 2;
    }
    channel.wait_all(&requests[..children]).await;

    if relative != 0 {
        return channel
            .wait(channel.send(channel.before(bit), gathered))
            .await;
    }
    let Some(blocks) = blocks else { return };
    for distance in usize::from(send.is_none())..ranks {
        let block = window(&gathered, distance * bytes..(distance + 1) * bytes);
        copy(&block, &blocks.block(channel.after(distance)));
    }
}
