//! Several pipelined chains of the hosts side by side: of each segment, some ranks of a host pass on a part each to the next host,
//! and give the parts to one another while those of the following segment arrive. For long messages, which one rank of a host alone
//! would take longer to move than the network does.

use std::ops::Range;

use crate::channel::Speaker;
use crate::memory::{Parts, window};
use crate::steps::slice;
use crate::{Channel, PointToPoint, flat};
use weft_memory::Memory;

/// The most ranks of a host that pass something on. A few fill any network, and long parts cost less than short ones.
const MOST_STREAMS: usize = 4;

/// Of a segment, for each stream: long enough that what a segment costs within the host does not show, short enough to fill the
/// chain quickly.
const PART_BYTES: usize = 64 << 10;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    let leader = channel.leader(root);
    let streams = hosts.fewest_ranks().min(MOST_STREAMS);
    // Of the rank at a position of this host: the leader's is the first.
    let stream = |position: usize| (position + host.size() - leader) % host.size();
    let chain = Chain {
        hosts: match stream(host.rank()) {
            places if places < streams => channel.across(Speaker::AfterLeader { root, places }),
            _ => None,
        },
        first: hosts.host_of(root),
        memory,
        segment_bytes: streams * PART_BYTES,
        part: |bytes, position| match stream(position) {
            stream if stream < streams => slice(bytes, stream, streams),
            _ => bytes..bytes,
        },
        position: host.rank(),
    };
    // On the root's host all but the root have their part once they have the segment.
    let spreads = hosts.own() != chain.first && streams > 1;
    let has_part = spreads || host.rank() == leader;
    let mut incoming = chain.receive(0);
    let mut outgoing = None;
    for index in 0..chain.segments() {
        let following = chain.receive(index + 1);
        channel.wait(incoming).await;
        incoming = following;
        let segment = chain.segment(index);
        let mut next = None;
        if has_part {
            next = chain.send(index);
        }
        if spreads {
            let bytes = segment.bytes;
            let parts = Parts {
                bytes: |position| (chain.part)(bytes, position),
                memory: segment,
            };
            channel.keep(flat::allgather::allgatherv(&host, None, &parts).await);
        } else {
            channel.keep(flat::bcast::bcast(&host, segment, leader).await);
        }
        if !has_part {
            next = chain.send(index);
        }
        channel.wait(outgoing).await;
        outgoing = next;
    }
    channel.wait(outgoing).await;
}

/// This rank's part of it.
struct Chain<'a, P: PointToPoint, F> {
    /// None of a rank that passes nothing on.
    hosts: Option<Channel<'a, P>>,
    /// The root's host.
    first: usize,
    memory: &'a Memory,
    segment_bytes: usize,
    /// Which bytes of a segment as long pass by way of a position.
    part: F,
    position: usize,
}

impl<P: PointToPoint, F: Fn(usize, usize) -> Range<usize>> Chain<'_, P, F> {
    fn segments(&self) -> usize {
        self.memory.bytes.div_ceil(self.segment_bytes)
    }

    fn segment(&self, index: usize) -> Memory {
        let start = index * self.segment_bytes;
        let end = self.memory.bytes.min(start + self.segment_bytes);
        window(self.memory, start..end)
    }

    /// What passes by way of this rank.
    fn own_part(&self, index: usize) -> Memory {
        let segment = self.segment(index);
        let bytes = (self.part)(segment.bytes, self.position);
        window(&segment, bytes)
    }

    fn receive(&self, index: usize) -> Option<P::Request> {
        let hosts = self.hosts.as_ref()?;
        let wanted = hosts.rank() != self.first && index < self.segments();
        wanted
            .then(|| hosts.receive(hosts.before(1), self.own_part(index)))
            .flatten()
    }

    fn send(&self, index: usize) -> Option<P::Request> {
        let hosts = self.hosts.as_ref()?;
        let next = hosts.after(1);
        (next != self.first)
            .then(|| hosts.send(next, self.own_part(index)))
            .flatten()
    }
}
