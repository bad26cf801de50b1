//! A binomial tree from the root: each rank receives the blocks of its subtree as one message.

use crate::channel::ROUNDS;
use crate::memory::{Scratch, copy, window};
use crate::{Blocks, Channel, PointToPoint};
use weft_transport::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<&Memory>,
    root: usize,
) {
    let ranks = channel.size();
    let Some(own) = receive
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
        return channel
            .wait(channel.receive(channel.before(bit), own))
            .await;
    }
    let scratch = Scratch::new(subtree * bytes);
    let held = scratch.memory(subtree * bytes);
    if relative != 0 {
        channel
            .wait(channel.receive(channel.before(bit), held.clone()))
            .await;
    } else if let Some(blocks) = blocks {
        for distance in 0..ranks {
            let part = window(&held, distance * bytes..(distance + 1) * bytes);
            copy(&blocks.block(channel.after(distance)), &part);
        }
    }

    let mut requests = [None; ROUNDS];
    let mut children = 0;
    let mut child = subtree.next_power_of_two();
    while child > 1 {
        child /= 2;
        if child < subtree {
            let end = subtree.min(2 * child);
            let part = window(&held, child * bytes..end * bytes);
            requests[children] = channel.send(channel.after(child), part);
            children += 1;
        }
    }
    if let Some(receive) = receive {
        copy(&window(&held, 0..bytes), receive);
    }
    channel.wait_all(&requests[..children]).await;
}
