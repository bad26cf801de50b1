//! Each host's ranks reduce to its leader, which on its own host is the root, and the leaders to the root.

use crate::channel::Speaker;
use crate::{Channel, PointToPoint, Reduction, flat};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) {
    let (host, leader) = (channel.within_host(), channel.leader(root));
    let Some(leaders) = channel.across(Speaker::Leader { root }) else {
        return channel.keep(flat::reduce::reduce(&host, *reduction, leader).await);
    };
    let is_root = channel.rank() == root;
    let Some(scratch) = channel.room(reduction.scratch(usize::from(!is_root))) else {
        return;
    };
    let partial = match is_root {
        true => reduction.output(),
        false => reduction.in_scratch(&scratch, 0),
    };
    channel.keep(flat::reduce::reduce(&host, reduction.with_output(partial), leader).await);
    let to = channel.hosts().host_of(root);
    let partials = reduction.with_input(partial);
    channel.keep(flat::reduce::reduce(&leaders, partials, to).await);
}
