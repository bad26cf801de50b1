//! A binomial tree: in each round, all who have the message send it to one more.

use crate::channel::ROUNDS;
use crate::{Channel, PointToPoint};
use weft_transport::Memory;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let ranks = channel.size();
    // Ranks counted from the root: the parent lacks the lowest bit set, the children have one more below it.
    let relative = (channel.rank() + ranks - root) % ranks;
    let mut bit = 1;
    while bit < ranks && relative & bit == 0 {
        bit *= 2;
    }
    if relative != 0 {
        channel
            .wait(channel.receive(channel.before(bit), memory.clone()))
            .await;
    }
    let mut requests = [None; ROUNDS];
    let mut children = 0;
    while bit > 1 {
        bit /= 2;
        if relative + bit < ranks {
            requests[children] = channel.send(channel.after(bit), memory.clone());
            children += 1;
        }
    }
    channel.wait_all(&requests[..children]).await;
}
