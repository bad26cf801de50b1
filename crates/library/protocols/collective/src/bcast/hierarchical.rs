//! The root broadcasts to the other hosts' leaders, and each leader, the root on its own host, to its host.

use crate::channel::Speaker;
use crate::{Channel, PointToPoint, flat};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    if let Some(leaders) = channel.across(Speaker::Leader { root }) {
        let from = channel.hosts().host_of(root);
        channel.keep(flat::bcast::bcast(&leaders, memory.clone(), from).await);
    }
    let (host, leader) = (channel.within_host(), channel.leader(root));
    channel.keep(flat::bcast::bcast(&host, memory.clone(), leader).await);
}
