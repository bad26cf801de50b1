//! A binomial tree: in each round, all who have the message send it to one more.

use crate::channel::ROUNDS;
use crate::cost::{Work, doublings, hop, others};
use crate::tree::Subtree;
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let subtree = Subtree::new(channel, root);
    if let Some(parent) = subtree.parent {
        channel
            .wait(channel.receive(channel.before(parent), memory.clone()))
            .await;
    }
    let mut requests = [None; ROUNDS];
    for (child, request) in subtree.children().rev().zip(&mut requests) {
        *request = channel.send(channel.after(child.start), memory.clone());
    }
    channel.wait_all(&requests).await;
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let way = doublings(ranks);
    let left = 1.0 - way / others(ranks);
    Work::rooted(way * hop(bytes), left * hop(bytes))
}
