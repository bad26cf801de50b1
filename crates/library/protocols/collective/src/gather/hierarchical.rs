//! Each host's blocks are gathered by its leader, which on its own host is the root, and go to the root as one message.

use crate::channel::Speaker;
use crate::host_order::HostOrder;
use crate::memory::{Parts, Scratch};
use crate::{Blocks, Channel, PointToPoint, flat};
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
    let (host, leader) = (channel.within_host(), channel.leader(root));
    let Some(leaders) = channel.across(Speaker::Leader { root }) else {
        return channel.keep(flat::gather::gather(&host, Some(own), None, leader).await);
    };
    let hosts = channel.hosts();
    if let Some(blocks) = blocks {
        let Some(all) = channel.room(HostOrder::new(hosts, channel.size(), blocks)) else {
            return;
        };
        let own = send.cloned().or((!all.is_in_place()).then_some(own));
        channel.keep(flat::gather::gather(&host, own, Some(&all.of_own_host()), leader).await);
        let (from_hosts, to) = (all.of_hosts(), hosts.host_of(root));
        between_leaders(&leaders, None, Some(&from_hosts), to).await;
        return all.unpack();
    }
    let Some(scratch) = channel.room(Scratch::new(host.size() * bytes)) else {
        return;
    };
    let gathered = Parts {
        memory: scratch.memory(host.size() * bytes),
        bytes: |position| position * bytes..(position + 1) * bytes,
    };
    channel.keep(flat::gather::gather(&host, Some(own), Some(&gathered), leader).await);
    between_leaders(&leaders, gathered.whole(), None, hosts.host_of(root)).await;
}

/// The hosts' blocks are as long where the hosts are even.
async fn between_leaders<P: PointToPoint>(
    leaders: &Channel<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    to: usize,
) {
    leaders.keep(match leaders.hosts().is_even() {
        true => flat::gather::gather(leaders, send, blocks, to).await,
        false => flat::gather::gatherv(leaders, send, blocks, to).await,
    });
}
