//! The root sends each host's blocks to its leader as one message, and each leader, the root on its own host, scatters them there.

use crate::channel::Speaker;
use crate::host_order::HostOrder;
use crate::memory::{Parts, Scratch};
use crate::{Blocks, Channel, PointToPoint, flat};
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
    let (host, leader) = (channel.within_host(), channel.leader(root));
    let Some(leaders) = channel.across(Speaker::Leader { root }) else {
        return channel.keep(flat::scatter::scatter(&host, None, Some(own), leader).await);
    };
    let hosts = channel.hosts();
    let from = hosts.host_of(root);
    if let Some(blocks) = blocks {
        let Some(all) = channel.room(HostOrder::new(hosts, channel.size(), blocks)) else {
            return;
        };
        all.pack();
        between_leaders(&leaders, Some(&all.of_hosts()), None, from).await;
        let of_host = all.of_own_host();
        let scattered =
            flat::scatter::scatter(&host, Some(&of_host), receive.cloned(), leader).await;
        return channel.keep(scattered);
    }
    let Some(scratch) = channel.room(Scratch::new(host.size() * bytes)) else {
        return;
    };
    let held = Parts {
        memory: scratch.memory(host.size() * bytes),
        bytes: |position| position * bytes..(position + 1) * bytes,
    };
    between_leaders(&leaders, None, held.whole(), from).await;
    channel.keep(flat::scatter::scatter(&host, Some(&held), Some(own), leader).await);
}

/// The hosts' blocks are as long where the hosts are even.
async fn between_leaders<P: PointToPoint>(
    leaders: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    from: usize,
) {
    leaders.keep(match leaders.hosts().is_even() {
        true => flat::scatter::scatter(leaders, blocks, receive, from).await,
        false => flat::scatter::scatterv(leaders, blocks, receive, from).await,
    });
}
