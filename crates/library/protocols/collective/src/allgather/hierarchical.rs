//! An allgather within each host, one of the hosts' blocks among the leaders, and a broadcast of all within each host.

use crate::channel::Speaker;
use crate::host_order::HostOrder;
use crate::{Blocks, Channel, PointToPoint, flat};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, blocks: &dyn Blocks) {
    let host = channel.within_host();
    let Some(all) = channel.room(HostOrder::new(channel.hosts(), channel.size(), blocks)) else {
        return;
    };
    let own = (!all.is_in_place()).then(|| blocks.block(channel.rank()));
    channel.keep(flat::allgather::allgatherv(&host, own, &all.of_own_host()).await);
    if let Some(leaders) = channel.across(Speaker::At(0)) {
        channel.keep(flat::allgather::allgatherv(&leaders, None, &all.of_hosts()).await);
    }
    channel.keep(flat::bcast::bcast(&host, all.memory(), 0).await);
    all.unpack();
}
