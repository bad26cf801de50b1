//! A binomial tree from the root: each rank receives the blocks of its subtree as one message.

use crate::channel::ROUNDS;
use crate::cost::Work;
use crate::flat::gather;
use crate::memory::{Scratch, copy, window};
use crate::tree::Subtree;
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<&Memory>,
    root: usize,
) {
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
    let subtree = Subtree::new(channel, root);
    if let (Some(parent), 1) = (subtree.parent, subtree.ranks) {
        return channel
            .wait(channel.receive(channel.before(parent), own))
            .await;
    }
    let Some(scratch) = channel.room(Scratch::new(subtree.ranks * bytes)) else {
        return;
    };
    let held = scratch.memory(subtree.ranks * bytes);
    if let Some(parent) = subtree.parent {
        channel
            .wait(channel.receive(channel.before(parent), held.clone()))
            .await;
    } else if let Some(blocks) = blocks {
        for distance in 0..subtree.ranks {
            let part = window(&held, distance * bytes..(distance + 1) * bytes);
            copy(&blocks.block(channel.after(distance)), &part);
        }
    }

    let mut requests = [None; ROUNDS];
    for (child, request) in subtree.children().rev().zip(&mut requests) {
        let part = window(&held, child.start * bytes..child.end * bytes);
        *request = channel.send(channel.after(child.start), part);
    }
    if let Some(receive) = receive {
        copy(&window(&held, 0..bytes), receive);
    }
    channel.wait_all(&requests).await;
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    // A gather backwards.
    gather::binomial::work(ranks, bytes)
}
