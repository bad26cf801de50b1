//! A pipelined chain of the hosts' leaders, of which the root is its own host's: each passes segments on to the next host and
//! broadcasts them within its own while the following ones arrive.

use crate::channel::Speaker;
use crate::memory::window;
use crate::{Channel, PointToPoint, flat};
use weft_memory::Memory;

/// Long enough that what a segment costs within the host does not show, short enough to fill the chain quickly.
const SEGMENT_BYTES: usize = 128 << 10;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let (host, leader) = (channel.within_host(), channel.leader(root));
    let leaders = channel.across(Speaker::Leader { root });
    let first = channel.hosts().host_of(root);
    let segments = memory.bytes.div_ceil(SEGMENT_BYTES);
    let segment = |index: usize| {
        let start = index * SEGMENT_BYTES;
        window(memory, start..memory.bytes.min(start + SEGMENT_BYTES))
    };
    let receive = |index: usize| {
        let leaders = leaders.as_ref()?;
        let wanted = leaders.rank() != first && index < segments;
        wanted
            .then(|| leaders.receive(leaders.before(1), segment(index)))
            .flatten()
    };
    let send = |index: usize| {
        let leaders = leaders.as_ref()?;
        let next = leaders.after(1);
        (next != first)
            .then(|| leaders.send(next, segment(index)))
            .flatten()
    };
    let mut incoming = receive(0);
    let mut outgoing = None;
    for index in 0..segments {
        let following = receive(index + 1);
        channel.wait(incoming).await;
        incoming = following;
        let next = send(index);
        channel.keep(flat::bcast::bcast(&host, segment(index), leader).await);
        channel.wait(outgoing).await;
        outgoing = next;
    }
    channel.wait(outgoing).await;
}
