//! The ranks at each position pass their blocks around a ring of the hosts, and those of a host give one another what has come
//! while the following blocks are under way. For long blocks: each comes to a host once, and a host's ranks move them side by side.

use crate::channel::Speaker;
use crate::host_order::OfHost;
use crate::{Blocks, Channel, PointToPoint, flat};

/// All hosts have as many ranks.
pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, blocks: &dyn Blocks) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    let position = host.rank();
    let ring = channel.across(Speaker::EachAt(position));
    let count = hosts.count();
    for step in 0..count {
        // The blocks of the host that is so many before this one.
        let of_host = |distance: usize| OfHost {
            blocks,
            hosts,
            host: (hosts.own() + count - distance) % count,
        };
        let here = of_host(step);
        let mut requests = [None; 2];
        if let Some(ring) = &ring
            && step + 1 < count
        {
            let following = of_host(step + 1).block(position);
            requests = [
                ring.receive(ring.before(1), following),
                ring.send(ring.after(1), here.block(position)),
            ];
        }
        channel.keep(flat::allgather::allgatherv(&host, None, &here).await);
        channel.wait_all(&requests).await;
    }
}
